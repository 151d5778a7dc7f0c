// How much one client may take.
#pragma once

#include <chrono>
#include <cstddef>

namespace kforge::serve {

struct Limits {
  std::size_t connections = 128;        // at once; one more is told to come back
  std::size_t header_bytes = 32 << 10;  // the request line and all headers
  std::size_t body_bytes = 16 << 20;    // only of those who know the token; others are refused before
  std::size_t path_bytes = 1024;
  std::chrono::milliseconds header_time{10'000};  // from its first byte to the end of its headers
  std::chrono::milliseconds body_time{20'000};    // for the rest of it
  std::chrono::milliseconds write_time{20'000};   // for a client to take one piece of an answer
  std::chrono::milliseconds idle_time{5'000};     // between two requests
  std::size_t requests_per_connection = 1000;
};

}  // namespace kforge::serve

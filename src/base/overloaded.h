// std::visit with one lambda for each alternative.
#pragma once

namespace kforge {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

}  // namespace kforge

// SHA-256, as lower-case hexadecimal: the name of everything that is stored by content.
#pragma once

#include <string>
#include <string_view>

namespace kforge {

class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  // Adds a piece together with its length, so that ("ab","c") and ("a","bc") differ.
  Hasher& add(std::string_view piece);
  std::string hex();

 private:
  void* context_;
};

std::string sha256_hex(std::string_view content);

}  // namespace kforge

// safetensors: the files through which command programs get their inputs and give their outputs.
//
//   8 bytes   length of the header, little-endian
//   header    JSON: {"__metadata__": {name: text}, "x": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0,
//   24]}} data      what the offsets count from
//
// What a program wrote is hostile: every number in it is checked before it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/dtype.h"

namespace kforge {

struct SafeTensor {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::size_t begin = 0, end = 0;  // in the file

  std::size_t bytes() const { return end - begin; }
};

struct SafeTensors {
  std::vector<SafeTensor> tensors;  // in the order of the header's names
  std::map<std::string, std::string> metadata;

  const SafeTensor* find(std::string_view name) const;
};

// "F32"; "" for a type that the format does not have.
std::string_view safetensors_name(DType dtype);

// The beginning of a file with these tensors one behind the other, each at a multiple of 64 bytes; sets their
// places.
std::string safetensors_header(SafeTensors& file);

// An Error says what is wrong with the file.
Result<SafeTensors> read_safetensors(std::span<const std::byte> file);

}  // namespace kforge

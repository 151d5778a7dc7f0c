#include "command/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

namespace kforge {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8, kAlignment = 64;
constexpr std::size_t kLargestHeader = 1 << 20;
constexpr const char* kMetadata = "__metadata__";

struct TypeName {
  DType dtype;
  std::string_view name;
};
constexpr TypeName kNames[] = {
    {DType::kFloat64, "F64"}, {DType::kFloat32, "F32"}, {DType::kFloat16, "F16"}, {DType::kBFloat16, "BF16"},
    {DType::kInt64, "I64"},   {DType::kInt32, "I32"},   {DType::kInt16, "I16"},   {DType::kInt8, "I8"},
    {DType::kUInt64, "U64"},  {DType::kUInt32, "U32"},  {DType::kUInt16, "U16"},  {DType::kUInt8, "U8"},
    {DType::kBool, "BOOL"},
};

std::size_t round_up(std::size_t value) { return (value + kAlignment - 1) / kAlignment * kAlignment; }

// Names come from a program and end up in messages.
std::string shown(const std::string& name) {
  std::string text = name.substr(0, 60);
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

Result<SafeTensor> tensor_of(const std::string& name, const Json& json, std::size_t data, std::size_t size) {
  const std::string who = shown(name);
  if (!json.is_object()) return fail("tensor '{}' is described by no object", who);
  const auto dtype = json.find("dtype"), shape = json.find("shape"), offsets = json.find("data_offsets");
  if (dtype == json.end() || shape == json.end() || offsets == json.end())
    return fail("tensor '{}' lacks dtype, shape or data_offsets", who);
  SafeTensor tensor{.name = name};
  const auto* known = dtype->is_string()
                          ? std::ranges::find(kNames, dtype->get<std::string>(), &TypeName::name)
                          : std::end(kNames);
  if (known == std::end(kNames)) return fail("tensor '{}' has an unknown dtype", who);
  tensor.dtype = known->dtype;
  // Bounded by the file's own size, so that no product overflows.
  std::size_t bytes = size_of(tensor.dtype);
  if (!shape->is_array() || shape->size() > 16) return fail("tensor '{}' has no usable shape", who);
  for (const Json& size_json : *shape) {
    if (!size_json.is_number_unsigned()) return fail("tensor '{}' has a shape that is not of sizes", who);
    const auto length = size_json.get<std::uint64_t>();
    if (length != 0 && bytes > size / length) return fail("tensor '{}' is larger than its file", who);
    bytes *= static_cast<std::size_t>(length);
    tensor.shape.push_back(static_cast<std::int64_t>(length));
  }
  if (!offsets->is_array() || offsets->size() != 2 || !(*offsets)[0].is_number_unsigned() ||
      !(*offsets)[1].is_number_unsigned())
    return fail("tensor '{}' has no two data_offsets", who);
  const auto begin = (*offsets)[0].get<std::uint64_t>(), end = (*offsets)[1].get<std::uint64_t>();
  if (begin > end || end > size - data) return fail("data_offsets of tensor '{}' lie outside the file", who);
  if (end - begin != bytes)
    return fail("tensor '{}' says it has {} bytes, and its shape makes {}", who, end - begin, bytes);
  tensor.begin = data + static_cast<std::size_t>(begin);
  tensor.end = data + static_cast<std::size_t>(end);
  return tensor;
}

}  // namespace

const SafeTensor* SafeTensors::find(std::string_view name) const {
  auto found = std::ranges::find(tensors, name, &SafeTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

std::string_view safetensors_name(DType dtype) {
  const auto* known = std::ranges::find(kNames, dtype, &TypeName::dtype);
  return known == std::end(kNames) ? std::string_view() : known->name;
}

std::string safetensors_header(SafeTensors& file) {
  Json json = Json::object();
  if (!file.metadata.empty()) json[kMetadata] = file.metadata;
  std::size_t at = 0;
  for (SafeTensor& tensor : file.tensors) {
    std::size_t bytes = size_of(tensor.dtype);
    for (const std::int64_t length : tensor.shape) bytes *= static_cast<std::size_t>(length);
    tensor.begin = round_up(at);
    tensor.end = at = tensor.begin + bytes;
    json[tensor.name] = {{"dtype", safetensors_name(tensor.dtype)},
                         {"shape", tensor.shape},
                         {"data_offsets", {tensor.begin, tensor.end}}};
  }
  std::string text = json.dump();
  // Spaces behind the object are part of the header: data then begins at a multiple, too.
  text.resize(round_up(kLengthBytes + text.size()) - kLengthBytes, ' ');
  const std::size_t data = kLengthBytes + text.size();
  for (SafeTensor& tensor : file.tensors) tensor.begin += data, tensor.end += data;
  std::uint64_t length = text.size();
  std::string header(kLengthBytes, '\0');
  std::memcpy(header.data(), &length, sizeof length);
  return header + text;
}

Result<SafeTensors> read_safetensors(std::span<const std::byte> file) {
  std::uint64_t length = 0;
  if (file.size() < kLengthBytes) return fail("it has {} bytes, and a header has 8 at least", file.size());
  std::memcpy(&length, file.data(), sizeof length);
  if (length > file.size() - kLengthBytes)
    return fail("its header says it has {} bytes, and the file has {}", length, file.size());
  if (length > kLargestHeader) return fail("its header has {} bytes; {} are allowed", length, kLargestHeader);
  const auto* text = reinterpret_cast<const char*>(file.data()) + kLengthBytes;
  const Json json = Json::parse(text, text + length, nullptr, false);
  if (!json.is_object()) return fail("its header is not a JSON object");
  SafeTensors found;
  const std::size_t data = kLengthBytes + static_cast<std::size_t>(length);
  for (const auto& [name, value] : json.items()) {
    if (name == kMetadata) {
      if (!value.is_object()) return fail("its __metadata__ is no object");
      for (const auto& [key, entry] : value.items())
        if (entry.is_string()) found.metadata[key] = entry.get<std::string>();
      continue;
    }
    KF_TRY(SafeTensor tensor, tensor_of(name, value, data, file.size()));
    found.tensors.push_back(std::move(tensor));
  }
  return found;
}

}  // namespace kforge

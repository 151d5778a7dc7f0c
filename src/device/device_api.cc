#include "device/device_api.h"

#include <cstring>

namespace kforge {
namespace {

template <class T>
std::vector<std::byte> bytes_as(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// The upper half, rounded to nearest even.
std::uint16_t bfloat16_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace

std::vector<std::byte> element_bytes(DType dtype, double value) {
  switch (dtype) {
    case DType::kFloat64:
      return bytes_as(value);
    case DType::kFloat16:
      return bytes_as(static_cast<_Float16>(value));
    case DType::kBFloat16:
      return bytes_as(bfloat16_bits(static_cast<float>(value)));
    case DType::kInt8:
      return bytes_as(static_cast<std::int8_t>(value));
    case DType::kInt16:
      return bytes_as(static_cast<std::int16_t>(value));
    case DType::kInt32:
      return bytes_as(static_cast<std::int32_t>(value));
    case DType::kInt64:
      return bytes_as(static_cast<std::int64_t>(value));
    case DType::kUInt8:
    case DType::kBool:
      return bytes_as(static_cast<std::uint8_t>(value));
    case DType::kUInt16:
      return bytes_as(static_cast<std::uint16_t>(value));
    case DType::kUInt32:
      return bytes_as(static_cast<std::uint32_t>(value));
    case DType::kUInt64:
      return bytes_as(static_cast<std::uint64_t>(value));
    default:
      return bytes_as(static_cast<float>(value));
  }
}

std::vector<std::byte> scalar_bytes(const PlanScalar& scalar) {
  switch (scalar.type) {
    case PlanScalar::Type::kInt32:
      return element_bytes(DType::kInt32, static_cast<double>(scalar.integer));
    case PlanScalar::Type::kUint32:
      return element_bytes(DType::kUInt32, static_cast<double>(scalar.integer));
    case PlanScalar::Type::kFloat32:
      return element_bytes(DType::kFloat32, scalar.real);
    case PlanScalar::Type::kInt64:
      break;
  }
  std::vector<std::byte> bytes(sizeof scalar.integer);
  std::memcpy(bytes.data(), &scalar.integer, bytes.size());
  return bytes;
}

Result<std::unique_ptr<DeviceApi>> open_device(std::string_view api) {
  if (api == "opencl") return open_opencl();
  if (api == "vulkan") return open_vulkan();
  if (api == "cuda") return open_cuda();
  if (api == "metal") return open_metal();
  return fail("this version of KForge drives no {} devices", api);
}

}  // namespace kforge

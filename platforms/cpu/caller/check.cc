// Calls the kernel once on the inputs stored here and compares what it gives with the expected values: a
// program to start from. Run it in this folder.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tensors.h"  // the tensors and the call, made for this kernel

namespace {

template <class T>
std::vector<T> read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) {
    std::fprintf(stderr, "cannot read %s: run this in the folder check\n", path.c_str());
    std::exit(2);
  }
  std::vector<T> values(static_cast<std::size_t>(file.tellg()) / sizeof(T));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  return values;
}

// The kernel may count on 64-byte alignment.
char* allocate(const Tensor& tensor) {
  std::size_t bytes = (tensor.elements * tensor.element_bytes + 63) / 64 * 64;
  char* memory = static_cast<char*>(std::aligned_alloc(64, bytes ? bytes : 64));
  if (!memory) std::exit(2);
  std::memset(memory, 0xff, bytes);
  return memory;
}

// A file holds the first elements of a tensor; they repeat to its end.
void fill(const Tensor& tensor, char* memory) {
  std::vector<char> block = read_all<char>(std::string(tensor.name) + ".in");
  std::size_t bytes = tensor.elements * tensor.element_bytes;
  for (std::size_t at = 0; at < bytes; at += block.size())
    std::memcpy(memory + at, block.data(), bytes - at < block.size() ? bytes - at : block.size());
}

template <class T>
T element(const char* memory, std::size_t index) {
  T value;
  std::memcpy(&value, memory + index * sizeof(T), sizeof(T));
  return value;
}

double float_element(const std::string& dtype, const char* memory, std::size_t index) {
  if (dtype == "float64") return element<double>(memory, index);
  if (dtype == "float16") return static_cast<double>(element<_Float16>(memory, index));
  if (dtype != "bfloat16") return static_cast<double>(element<float>(memory, index));
  std::uint32_t bits = std::uint32_t{element<std::uint16_t>(memory, index)} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}

std::int64_t int_element(const std::string& dtype, const char* memory, std::size_t index) {
  if (dtype == "int64" || dtype == "uint64") return element<std::int64_t>(memory, index);
  if (dtype == "int32") return element<std::int32_t>(memory, index);
  if (dtype == "uint32") return element<std::uint32_t>(memory, index);
  if (dtype == "int16") return element<std::int16_t>(memory, index);
  if (dtype == "uint16") return element<std::uint16_t>(memory, index);
  if (dtype == "int8") return element<std::int8_t>(memory, index);
  return element<std::uint8_t>(memory, index);
}

bool near(double got, double want, const Tensor& tensor) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::abs(got - want) <= tensor.absolute + tensor.relative * std::abs(want);
}

// How many of the stored elements are wrong.
std::size_t compare(const Tensor& tensor, const char* memory) {
  std::string path = std::string(tensor.name) + ".expected";
  std::size_t wrong = 0, count = 0;
  if (tensor.floating) {
    std::vector<double> want = read_all<double>(path);
    for (count = 0; count < want.size(); ++count)
      wrong += !near(float_element(tensor.dtype, memory, count * tensor.every), want[count], tensor);
  } else {
    std::vector<std::int64_t> want = read_all<std::int64_t>(path);
    for (count = 0; count < want.size(); ++count)
      wrong += int_element(tensor.dtype, memory, count * tensor.every) != want[count];
  }
  std::printf("%s: %zu of %zu elements compared, %zu wrong\n", tensor.name, count, tensor.elements, wrong);
  return wrong;
}

}  // namespace

int main() {
  std::vector<char*> memory;
  for (const Tensor& tensor : kTensors) {
    memory.push_back(allocate(tensor));
    if (tensor.given) fill(tensor, memory.back());
  }
  call(memory.data());
  std::size_t wrong = 0, index = 0;
  for (const Tensor& tensor : kTensors) {
    if (tensor.compared) wrong += compare(tensor, memory[index]);
    std::free(memory[index++]);
  }
  std::puts(wrong == 0 ? "passed" : "FAILED");
  return wrong == 0 ? 0 : 1;
}

#include "command/safetensors.h"

#include <gmock/gmock.h>

#include <cstring>

namespace kforge {
namespace {

using testing::HasSubstr;

std::string file_of(const std::string& header, std::size_t data) {
  std::uint64_t length = header.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file + header + std::string(data, '\x11');
}

std::string mistake_in(const std::string& header, std::size_t data) {
  const std::string file = file_of(header, data);
  auto read = read_safetensors(std::as_bytes(std::span(file)));
  return read ? "read" : read.error().message;
}

TEST(SafeTensors, AreReadBackAsTheyWereWritten) {
  SafeTensors written{
      {{"x", DType::kFloat32, {3, 5}}, {"scalar", DType::kInt64, {}}, {"none", DType::kBool, {0, 7}}},
      {{"arguments", "x scalar none"}}};
  std::string file = safetensors_header(written);
  file.resize(written.tensors.back().end);
  EXPECT_EQ(written.tensors[0].begin % 64, 0u);
  EXPECT_EQ(written.tensors[1].begin % 64, 0u);
  auto read = read_safetensors(std::as_bytes(std::span(file)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->metadata.at("arguments"), "x scalar none");
  ASSERT_TRUE(read->find("x"));
  EXPECT_EQ(read->find("x")->begin, written.tensors[0].begin);
  EXPECT_EQ(read->find("x")->bytes(), 60u);
  EXPECT_EQ(read->find("scalar")->bytes(), 8u);
  EXPECT_EQ(read->find("none")->bytes(), 0u);
  EXPECT_EQ(read->find("y"), nullptr);
}

TEST(SafeTensors, LyingHeadersAreRefusedWithTheReason) {
  const struct {
    std::string header;
    std::size_t data;
    std::string says;
  } cases[] = {
      {"", 0, "not a JSON object"},
      {"[1]", 0, "not a JSON object"},
      {R"({"y": 3})", 0, "no object"},
      {R"({"y": {"dtype": "F32", "shape": [1]}})", 4, "lacks dtype, shape or data_offsets"},
      {R"({"y": {"dtype": "F31", "shape": [1], "data_offsets": [0, 4]}})", 4, "unknown dtype"},
      {R"({"y": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}})", 4, "not of sizes"},
      {R"({"y": {"dtype": "F32", "shape": [1.5], "data_offsets": [0, 4]}})", 4, "not of sizes"},
      {R"({"y": {"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 4]}})", 4,
       "larger than"},
      {R"({"y": {"dtype": "F32", "shape": [1], "data_offsets": [0, 400]}})", 4, "outside the file"},
      {R"({"y": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}})", 4, "outside the file"},
      {R"({"y": {"dtype": "F32", "shape": [1], "data_offsets": [0, 18446744073709551615]}})", 4,
       "outside the file"},
      {R"({"y": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}})", 8, "its shape makes 8"},
      {R"({"__metadata__": 3})", 0, "__metadata__"},
  };
  for (const auto& c : cases) EXPECT_THAT(mistake_in(c.header, c.data), HasSubstr(c.says)) << c.header;
  const std::byte few[3] = {};
  EXPECT_FALSE(read_safetensors(few));
  std::string endless = file_of("{}", 0);
  std::memset(endless.data(), 0xff, 8);
  EXPECT_FALSE(read_safetensors(std::as_bytes(std::span(endless))))
      << "a length that is longer than the file";
}

}  // namespace
}  // namespace kforge

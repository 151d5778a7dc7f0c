// A module is words: a header of five, then instructions, each with its length and opcode in the first word.
#include "device/spirv.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace kforge {
namespace {

constexpr std::uint32_t kMagic = 0x07230203;
enum Opcode : std::uint32_t {
  kExecutionMode = 16,
  kTypeInt = 21,
  kTypeFloat = 22,
  kTypeVector = 23,
  kTypeStruct = 30,
  kTypePointer = 32,
  kVariable = 59,
  kDecorate = 71,
  kMemberDecorate = 72,
};
constexpr std::uint32_t kLocalSize = 17, kBinding = 33, kOffset = 35, kPushConstant = 9;

class SpirvReading {
 public:
  void instruction(std::uint32_t opcode, const std::uint32_t* word, std::size_t count) {
    if (opcode == kExecutionMode && count >= 6 && word[2] == kLocalSize)
      facts_.local_size = {word[3], word[4], word[5]};
    if (opcode == kDecorate && count >= 4 && word[2] == kBinding) facts_.bindings.push_back(word[3]);
    if (opcode == kMemberDecorate && count >= 5 && word[3] == kOffset) offsets_[word[1]][word[2]] = word[4];
    if ((opcode == kTypeInt || opcode == kTypeFloat) && count >= 3) bytes_[word[1]] = word[2] / 8;
    if (opcode == kTypeVector && count >= 4) bytes_[word[1]] = bytes_[word[2]] * word[3];
    if (opcode == kTypeStruct)
      for (std::size_t i = 2; i < count; ++i) members_[word[1]].push_back(word[i]);
    if (opcode == kTypePointer && count >= 4 && word[2] == kPushConstant) pushed_ = word[3];
  }

  SpirvFacts finish() {
    std::ranges::sort(facts_.bindings);
    const auto& members = members_[pushed_];
    for (std::uint32_t i = 0; pushed_ != 0 && i < members.size(); ++i)
      facts_.push_bytes = std::max(facts_.push_bytes, offsets_[pushed_][i] + bytes_[members[i]]);
    return std::move(facts_);
  }

 private:
  SpirvFacts facts_;
  std::map<std::uint32_t, std::uint32_t> bytes_;                 // of scalar and vector types
  std::map<std::uint32_t, std::vector<std::uint32_t>> members_;  // of structs
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> offsets_;
  std::uint32_t pushed_ = 0;  // the struct that is the push block
};

}  // namespace

Result<SpirvFacts> read_spirv(std::string_view code) {
  std::vector<std::uint32_t> words(code.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), code.data(), words.size() * 4);
  if (code.size() % 4 != 0 || words.size() < 5 || words[0] != kMagic) return fail("not SPIR-V");
  SpirvReading reading;
  for (std::size_t at = 5; at < words.size();) {
    const std::size_t count = words[at] >> 16;
    if (count == 0 || count > words.size() - at) return fail("SPIR-V with an instruction of a wrong length");
    reading.instruction(words[at] & 0xffff, words.data() + at, count);
    at += count;
  }
  return reading.finish();
}

}  // namespace kforge

#include "oracle/expected_file.h"

#include <cstring>
#include <type_traits>

namespace kforge {
namespace {

constexpr std::string_view kMagic = "kforge expected outputs 2\n";

class Writer {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(T value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T)); }
  template <class List>
  void put_list(const List& list) {
    put(static_cast<std::uint64_t>(list.size()));
    bytes_.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(list[0]));
  }
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  void get(T& value) {
    take(&value, sizeof(T));
  }
  template <class List>
  void get_list(List& list) {
    std::uint64_t count = 0;
    get(count);
    if (count > rest_.size() / sizeof(list[0])) good_ = false;  // before anything of that size is made
    if (!good_) return;
    list.resize(count);
    take(list.data(), count * sizeof(list[0]));
  }
  bool good() const { return good_; }
  bool at_end() const { return good_ && rest_.empty(); }

 private:
  void take(void* to, std::size_t size) {
    good_ = good_ && size <= rest_.size();
    if (!good_) return;
    if (size > 0) std::memcpy(to, rest_.data(), size);
    rest_.remove_prefix(size);
  }

  std::string_view rest_;
  bool good_ = true;
};

void write_output(Writer& writer, const ExpectedOutput& output) {
  writer.put_list(output.name);
  writer.put(output.dtype);
  writer.put_list(output.shape);
  writer.put_list(output.values);
  writer.put_list(output.doubles);
  writer.put_list(output.ints);
  writer.put(output.rms);
  writer.put(output.mean);
  writer.put(output.deviation);
  writer.put(output.yardstick_worst_abs);
  writer.put(output.yardstick_worst_rel.value_or(-1));
  writer.put(output.long_sums);
  writer.put(output.index_source.has_value());
  if (!output.index_source) return;
  writer.put_list(output.index_source->shape);
  writer.put(output.index_source->axis);
  writer.put_list(output.index_source->values);
  writer.put(output.index_source->yardstick_worst_abs);
}

void read_output(Reader& reader, ExpectedOutput& output) {
  bool has_source = false;
  reader.get_list(output.name);
  reader.get(output.dtype);
  reader.get_list(output.shape);
  reader.get_list(output.values);
  reader.get_list(output.doubles);
  reader.get_list(output.ints);
  reader.get(output.rms);
  reader.get(output.mean);
  reader.get(output.deviation);
  reader.get(output.yardstick_worst_abs);
  double relative = -1;
  reader.get(relative);
  if (relative >= 0) output.yardstick_worst_rel = relative;
  reader.get(output.long_sums);
  reader.get(has_source);
  if (!has_source) return;
  IndexSource& source = output.index_source.emplace();
  reader.get_list(source.shape);
  reader.get(source.axis);
  reader.get_list(source.values);
  reader.get(source.yardstick_worst_abs);
}

}  // namespace

std::string write_expected(const Expected& expected) {
  Writer writer;
  writer.bytes_ = kMagic;
  writer.put(expected.yardstick_finite);
  writer.put(static_cast<std::uint64_t>(expected.outputs.size()));
  for (const ExpectedOutput& output : expected.outputs) write_output(writer, output);
  return std::move(writer.bytes_);
}

std::optional<Expected> read_expected(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return std::nullopt;
  Reader reader(bytes.substr(kMagic.size()));
  Expected expected;
  std::uint64_t outputs = 0;
  reader.get(expected.yardstick_finite);
  reader.get(outputs);
  for (std::uint64_t i = 0; i < outputs && reader.good(); ++i)
    read_output(reader, expected.outputs.emplace_back());
  if (!reader.at_end()) return std::nullopt;
  return expected;
}

}  // namespace kforge

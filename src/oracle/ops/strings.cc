// Operators on texts: StringNormalizer, and TfIdfVectorizer (which counts n-grams of numbers or texts).
#include <algorithm>
#include <map>
#include <string>

#include "oracle/call.h"

namespace kforge {
namespace {

template <class F>
std::vector<std::string> strings_attr(const Call<F>& call, const char* name) {
  const auto found = call.node.attributes.find(name);
  if (found == call.node.attributes.end()) return {};
  const auto* list = std::get_if<std::vector<std::string>>(&found->second);
  return list ? *list : std::vector<std::string>();
}

std::string in_case(std::string text, const std::string& action) {  // ASCII letters only
  for (char& c : text) {
    if (action == "LOWER" && c >= 'A' && c <= 'Z') c += 'a' - 'A';
    if (action == "UPPER" && c >= 'a' && c <= 'z') c -= 'a' - 'A';
  }
  return text;
}

}  // namespace

// Removes stop words and changes the case, of a list or of a matrix with one row.
KF_ORACLE_OPERATOR(StringNormalizer) {
  const Tensor<F>& x = call.in(0);
  if (x.rank() > 2 || x.rank() < 1 || (x.rank() == 2 && x.dim(0) != 1))
    refuse("texts of shape {}", to_string(x.shape()));
  const std::string action = call.node.string_attr("case_change_action", "NONE");
  const bool sensitive = call.int_attr("is_case_sensitive", 0) != 0;
  std::vector<std::string> stop = strings_attr(call, "stopwords"), kept;
  auto key = [&](const std::string& text) { return sensitive ? text : in_case(text, "LOWER"); };
  for (std::string& word : stop) word = key(word);
  for (const std::string& text : x.strings())
    if (std::find(stop.begin(), stop.end(), key(text)) == stop.end()) kept.push_back(in_case(text, action));
  if (kept.empty()) kept.emplace_back();  // ONNX wants one empty text instead of none
  Shape shape = x.shape();
  shape.back() = static_cast<std::int64_t>(kept.size());
  Tensor<F> y(DType::kString, shape);
  y.new_strings() = std::move(kept);
  return {y};
}

// Counts, in every row, the n-grams of a pool; words of an n-gram may be up to max_skip_count words apart.
KF_ORACLE_OPERATOR(TfIdfVectorizer) {
  const Tensor<F>& x = call.in(0);
  if (x.rank() < 1 || x.rank() > 2) refuse("rows of shape {}", to_string(x.shape()));
  const std::int64_t columns = x.dim(x.rank() - 1), rows = x.rank() == 2 ? x.dim(0) : 1;
  const std::int64_t min_length = call.int_attr("min_gram_length", 1),
                     max_length = call.int_attr("max_gram_length", 1);
  const std::int64_t max_skip = call.int_attr("max_skip_count", 0);
  const std::string mode = call.node.string_attr("mode", "TF");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") refuse("mode \"{}\" is unknown", mode);
  if (min_length < 1 || max_length < min_length || max_length > 16 || max_skip < 0)
    refuse("n-grams of {} to {} words, {} skipped", min_length, max_length, max_skip);
  const auto starts = call.node.ints_attr("ngram_counts"), indexes = call.node.ints_attr("ngram_indexes");
  const auto weights = call.node.floats_attr("weights");
  std::vector<std::string> pool = strings_attr(call, "pool_strings");
  if (pool.empty())
    for (std::int64_t word : call.node.ints_attr("pool_int64s")) pool.push_back(std::to_string(word));
  if (starts.empty() || indexes.empty() || (!weights.empty() && weights.size() != indexes.size()))
    refuse("the pool has no n-grams");

  std::map<std::vector<std::string>, std::size_t> number_of;  // of every n-gram of the pool
  const auto pool_size = static_cast<std::int64_t>(pool.size());
  for (std::size_t group = 0; group < starts.size(); ++group) {
    const auto words = static_cast<std::int64_t>(group) + 1;
    const std::int64_t end = group + 1 < starts.size() ? starts[group + 1] : pool_size;
    if (starts[group] < 0 || end > pool_size || starts[group] > end)
      refuse("ngram_counts {} for a pool of {}", to_string(starts), pool_size);
    for (std::int64_t at = starts[group]; at + words <= end; at += words)
      number_of.emplace(std::vector<std::string>(pool.begin() + at, pool.begin() + at + words),
                        number_of.size());
  }
  if (number_of.size() > indexes.size())
    refuse("{} indexes for {} n-grams", indexes.size(), number_of.size());
  const std::int64_t width = *std::max_element(indexes.begin(), indexes.end()) + 1;
  if (*std::min_element(indexes.begin(), indexes.end()) < 0) refuse("an index of an n-gram is negative");
  auto word_at = [&](std::int64_t i) {
    if (x.dtype() == DType::kString) return x.strings()[static_cast<std::size_t>(i)];
    return std::to_string(x.ints()[static_cast<std::size_t>(i)]);
  };

  Tensor<F> y(DType::kFloat32, x.rank() == 2 ? Shape{rows, width} : Shape{width});
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t length = min_length; length <= max_length; ++length)
      for (std::int64_t step = 1; step <= (length == 1 ? 1 : std::min(max_skip, columns) + 1); ++step)
        for (std::int64_t first = 0; first + (length - 1) * step < columns; ++first) {
          std::vector<std::string> gram;
          for (std::int64_t w = 0; w < length; ++w) gram.push_back(word_at(row * columns + first + w * step));
          const auto found = number_of.find(gram);
          if (found == number_of.end()) continue;
          F& count = y.new_floats()[static_cast<std::size_t>(row * width + indexes[found->second])];
          const F weight = weights.empty() ? F(1) : static_cast<F>(weights[found->second]);
          if (mode == "TF")
            count += 1;
          else if (mode == "IDF")
            count = weight;
          else
            count += weight;
        }
  return {y};
}

KF_ORACLE_INSTANTIATE(StringNormalizer)
KF_ORACLE_INSTANTIATE(TfIdfVectorizer)

}  // namespace kforge

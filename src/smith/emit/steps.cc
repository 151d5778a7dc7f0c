#include "smith/emit/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "smith/emit/cpp_expr.h"
#include "smith/emit/nest_writer.h"
#include "smith/emit/repeats.h"

namespace kforge::smith {
namespace {

constexpr std::size_t kManyNests = 6;

std::string_view without_digits(std::string_view word) {
  while (!word.empty() && std::isdigit(static_cast<unsigned char>(word.back()))) word.remove_suffix(1);
  return word;
}

// Names that the writer of nests makes: t12, carry3, x_12, x_sum3, x_sum3_0.
bool is_local(std::string_view word, const Nest& nest) {
  const auto is_tensor = [&](std::string_view name) { return nest.tensors.contains(std::string(name)); };
  std::string_view stem = without_digits(word);
  if (stem.size() == word.size()) return false;
  if (stem == "t" || stem == "carry") return true;
  if (stem.ends_with('_')) {
    stem.remove_suffix(1);
    if (is_tensor(stem)) return true;
    stem = without_digits(stem);
  }
  return stem.ends_with("_sum") && is_tensor(stem.substr(0, stem.size() - 4));
}

// A nest as text, and what of it are parameters.
struct Written {
  Skeleton skeleton;
  std::vector<std::string> types, arguments;
  bool heap = false;
};
Written written(const Nest& nest, const Stmt& s, const std::string& text) {
  std::set<std::string> loops;
  for (const std::string& name : loop_names(s)) loops.insert(name);
  const auto is_name = [&](std::string_view word) {
    const std::string name(word);
    return nest.tensors.contains(name) || loops.contains(name) || is_local(word, nest);
  };
  Written w{skeleton_of(text, is_name), {}, {}, text.find("thread_heap") != std::string::npos};
  const std::set<std::string> writes = writes_of(s);
  for (const std::string& name : w.skeleton.names) {
    const auto tensor = nest.tensors.find(name);
    if (tensor == nest.tensors.end() || tensor->second.c_name == "local") continue;
    w.arguments.push_back(name);
    w.types.push_back(fmt::format("{}{}* __restrict", writes.contains(name) ? "" : "const ",
                                  c_type_of(tensor->second.dtype)));
    w.skeleton.shape += "\n" + w.types.back();
  }
  return w;
}

struct Function {
  std::string name, definition;
  int times = 1;
};

std::string definition_of(const Written& w, const std::string& name, const std::string& text) {
  std::string parameters;
  for (std::size_t i = 0; i < w.arguments.size(); ++i)
    parameters += fmt::format("{}{} {}", i ? ", " : "", w.types[i], w.arguments[i]);
  if (w.heap) parameters += fmt::format("{}char* thread_heap", parameters.empty() ? "" : ", ");
  return fmt::format("__attribute__((noinline)) void {}({}) {{\n{}}}\n", name, parameters, text);
}

}  // namespace

bool is_large(const Nest& nest) { return nest.root && nest.root->body.size() > kManyNests; }

Steps steps_of(const Nest& nest, bool team, std::set<std::string>& used, int& counter) {
  Steps steps;
  std::map<std::string, std::size_t> known;  // by shape
  std::vector<Function> functions;
  const std::string indent = team ? "    " : "  ";
  for (std::size_t i = 0; i < nest.root->body.size(); ++i) {
    const Stmt& s = nest.root->body[i];
    NestWriter writer(nest, used, counter);
    if (s->kind == StmtNode::Kind::kNative) {
      const std::string text = writer.write(i, i + 1, team, team ? 2 : 1);
      steps.words.push_back(words_of(text));
      steps.calls += text;
      continue;
    }
    const std::string text = writer.write(i, i + 1, team, 1);
    steps.thread_bytes = std::max(steps.thread_bytes, writer.thread_bytes);
    const Written w = written(nest, s, text);
    const auto [place, is_new] = known.try_emplace(w.skeleton.shape, functions.size());
    if (is_new) {
      // Names that end in an underscore are never those of tensors.
      const std::string name = fmt::format("nest_{}_", functions.size() + 1);
      functions.push_back({name, definition_of(w, name, text)});
    } else {
      ++functions[place->second].times;
    }
    std::string arguments = fmt::format("{}", fmt::join(w.arguments, ", "));
    if (w.heap) arguments += arguments.empty() ? "thread_heap" : ", thread_heap";
    steps.words.emplace_back(w.arguments.begin(), w.arguments.end());
    steps.calls += fmt::format("{}{}({});\n", indent, functions[place->second].name, arguments);
  }
  for (const Function& f : functions)
    steps.functions +=
        (f.times > 1 ? fmt::format("\n// Called {} times, with other tensors.\n", f.times) : "\n") +
        f.definition;
  return steps;
}

}  // namespace kforge::smith

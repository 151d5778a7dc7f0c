#include "graph/read_model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/defs/parser.h>

#include "base/files.h"

namespace kforge {
namespace {

constexpr std::size_t kTextLimit = std::size_t{16} << 20;
constexpr int kNestingLimit = 32;  // braces; the parser calls itself once per level
constexpr std::string_view kDefaultHeader = "<ir_version: 8, opset_import: [\"\" : 17, \"kforge\" : 1]>";

// First character that is neither space nor comment.
std::size_t first_token(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '#')
      while (at < text.size() && text[at] != '\n') ++at;
    else if (isspace(static_cast<unsigned char>(text[at])))
      ++at;
    else
      break;
  }
  return at;
}

Result<void> check_text(std::string_view text, std::string_view name) {
  if (text.size() > kTextLimit) return fail("{}: the text is larger than {} MB", name, kTextLimit >> 20);
  int depth = 0;
  for (char c : text) {
    if (c == '\0') return fail("{}: not a text file (it contains a zero byte)", name);
    if (c == '{' || c == '<' || c == '(' || c == '[') ++depth;
    if (c == '}' || c == '>' || c == ')' || c == ']') --depth;
    if (depth > kNestingLimit) return fail("{}: nested deeper than {} levels", name, kNestingLimit);
  }
  return {};
}

// The parser's message quotes the line; what was put in front of it is not the author's.
std::string without_header(std::string message) {
  if (std::size_t at = message.find(kDefaultHeader); at != std::string::npos)
    message.erase(at, kDefaultHeader.size());
  return message;
}

}  // namespace

Result<onnx::ModelProto> read_model_text(std::string_view text, std::string_view name) {
  KF_TRY_VOID(check_text(text, name));
  // The header goes in front of the first token on its line, so that line numbers in messages stay right.
  std::size_t start = first_token(text);
  std::string whole(text);
  bool has_header = start < text.size() && text[start] == '<';
  if (!has_header) whole.insert(start, kDefaultHeader);
  onnx::ModelProto model;
  try {
    onnx::OnnxParser parser(whole.c_str());
    auto status = parser.Parse(model);
    if (!status.IsOK()) return fail("{}: {}", name, without_header(status.ErrorMessage()));
    if (!parser.EndOfInput())
      return fail("{}: text after the end of the graph {}", name, parser.GetCurrentPos());
  } catch (const std::exception& error) {
    return fail("{}: a number is malformed or out of range ({})", name, error.what());
  }
  if (model.opset_import().empty()) {
    auto* opset = model.add_opset_import();
    opset->set_domain("");
    opset->set_version(17);
  }
  return model;
}

Result<onnx::ModelProto> read_model_file(const std::string& path) {
  KF_TRY(std::string content, read_file(path));
  if (path.ends_with(".txt")) return read_model_text(content, path);
  onnx::ModelProto model;
  google::protobuf::io::ArrayInputStream raw(content.data(), static_cast<int>(content.size()));
  google::protobuf::io::CodedInputStream stream(&raw);
  stream.SetRecursionLimit(100);
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return fail("{}: not an ONNX model, or cut off", path);
  if (!model.has_graph()) return fail("{}: holds no graph", path);
  return model;
}

}  // namespace kforge

// Inline PTX. The instructions that people write by hand (ldmatrix, mma.sync, cp.async, approximations)
// become calls of the emulator's functions, with the operands in the order of the instruction; any other is
// reported by name.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "emulate/rewrite.h"

namespace kforge::emulate {
namespace {

using Kind = Token::Kind;

struct Instruction {
  std::string_view start;  // of the instruction
  std::string_view call;   // function of cuda_ptx.h
};
// The first that fits.
constexpr std::array kInstructions = {
    Instruction{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "kfe::ptx_mma_m16n8k16<kfe::ptx_f16>"},
    Instruction{"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "kfe::ptx_mma_m16n8k16<kfe::ptx_f16>"},
    Instruction{"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
                "kfe::ptx_mma_m16n8k16<kfe::ptx_bf16>"},
    Instruction{"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "kfe::ptx_mma_m16n8k8<kfe::ptx_f16>"},
    Instruction{"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "kfe::ptx_mma_m16n8k8<kfe::ptx_bf16>"},
    Instruction{"cp.async.commit_group", "kfe::ptx_commit_group"},
    Instruction{"cp.async.wait_group", "kfe::ptx_wait_group"},
    Instruction{"cp.async.wait_all", "kfe::ptx_wait_all"},
    Instruction{"cp.async.ca.shared", "kfe::ptx_cp_async"},
    Instruction{"cp.async.cg.shared", "kfe::ptx_cp_async"},
    Instruction{"bar.sync", "kfe::ptx_bar_sync"},
    Instruction{"barrier.sync.aligned", "kfe::ptx_bar_sync"},
    Instruction{"membar.cta", "kfe::ptx_fence_block"},
    Instruction{"membar.", "kfe::ptx_fence"},
    Instruction{"fence.acq_rel.cta", "kfe::ptx_fence_block"},
    Instruction{"fence.acq_rel", "kfe::ptx_fence"},
    Instruction{"ex2.approx", "kfe::ptx_ex2"},
    Instruction{"lg2.approx", "kfe::ptx_lg2"},
    Instruction{"rcp.approx", "kfe::ptx_rcp"},
    Instruction{"rsqrt.approx", "kfe::ptx_rsqrt"},
    Instruction{"sqrt.approx", "kfe::ptx_sqrt"},
    Instruction{"sin.approx", "kfe::ptx_sin"},
    Instruction{"cos.approx", "kfe::ptx_cos"},
    Instruction{"tanh.approx.f32", "kfe::ptx_tanh"},
    Instruction{"fma.rn.f32", "kfe::ptx_fma"},
};

struct Statement {
  std::size_t begin = 0, end = 0;  // tokens; end: the closing bracket
  std::string text;                // of the instructions
  std::vector<std::string> operands;
};

// Without quotes, line ends as blanks.
std::string literal(std::string_view token) {
  const std::size_t open = token.find('"');
  if (open == token.npos || token.size() < open + 2) return {};
  std::string out;
  for (std::size_t i = open + 1; i + 1 < token.size(); ++i) {
    if (token[i] != '\\' || i + 2 >= token.size()) {
      out += token[i];
      continue;
    }
    ++i;
    out += token[i] == 'n' || token[i] == 't' ? ' ' : token[i];
  }
  return out;
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

class PtxRewriter {
 public:
  PtxRewriter(TokenList& list, Rewritten& out) : list_(list), out_(out) {}

  void run() {
    for (std::size_t i = 0; i < list_.tokens.size(); ++i) {
      const Token& token = list_.tokens[i];
      if (!token.is("asm") && !token.is("__asm__") && !token.is("__asm")) continue;
      const auto statement = read(i);
      if (!statement) continue;  // no statement: refused as host assembly
      const auto call = statement_call(*statement);
      if (!call) unsupported(*statement);
      replace(*statement, call.value_or("(void)0"));
      i = statement->end;
    }
  }

 private:
  std::optional<Statement> read(std::size_t at) const {
    Statement statement;
    statement.begin = at;
    std::size_t open = list_.next(at + 1);
    while (open < list_.tokens.size() && list_.tokens[open].kind == Kind::kWord) open = list_.next(open + 1);
    if (open >= list_.tokens.size() || !list_.tokens[open].is("(")) return std::nullopt;
    statement.end = list_.closing(open);
    if (statement.end >= list_.tokens.size()) return std::nullopt;
    int section = 0;
    for (std::size_t i = open + 1; i < statement.end; ++i) {
      const Token& token = list_.tokens[i];
      if (token.is(":")) ++section;
      if (token.is("::")) section += 2;
      if (section == 0 && token.kind == Kind::kString) statement.text += literal(token.text);
      for (std::size_t p; (p = statement.text.find("%%")) != std::string::npos;) statement.text.erase(p, 1);
      if ((section == 1 || section == 2) && token.is("(")) {
        const std::size_t close = list_.closing(i);
        std::string operand;
        for (std::size_t p = i + 1; p < close && p < statement.end; ++p)
          operand += list_.tokens[p].kind == Kind::kBlank ? " " : list_.tokens[p].text;
        statement.operands.push_back(std::move(operand));
        i = close;
      }
    }
    return statement;
  }

  // Every instruction of the statement as a call; nothing where one is not known.
  static std::optional<std::string> statement_call(const Statement& statement) {
    // The usual way to an address of shared memory, in a block with a register of its own.
    if (statement.text.find("cvta.to.shared.u64") != std::string::npos && statement.operands.size() == 2 &&
        statement.text.find("cvt.u32.u64") != std::string::npos)
      return "(" + statement.operands[0] +
             ") = static_cast<unsigned>(__cvta_generic_to_shared(reinterpret_cast<const void*>(" +
             statement.operands[1] + ")))";
    std::string calls;
    for (std::size_t begin = 0; begin < statement.text.size();) {
      const std::size_t end = std::min(statement.text.find(';', begin), statement.text.size());
      const std::string instruction = trimmed(std::string_view(statement.text).substr(begin, end - begin));
      begin = end + 1;
      if (instruction.empty()) continue;
      const auto call = instruction_call(instruction, statement.operands);
      if (!call) return std::nullopt;
      calls += (calls.empty() ? "" : ", ") + *call;
    }
    if (calls.empty()) return "(void)0";  // a barrier for the compiler
    return "(" + calls + ")";
  }

  static std::optional<std::string> instruction_call(const std::string& text,
                                                     const std::vector<std::string>& operands) {
    const std::size_t blank = std::min(text.find_first_of(" \t"), text.size());
    const std::string name = text.substr(0, blank);
    const auto arguments = operands_of(std::string_view(text).substr(blank), operands);
    if (!arguments) return std::nullopt;
    if (name.starts_with("mov.") && text.find("%laneid") != text.npos)
      return "kfe::ptx_laneid(" + operands.at(0) + ")";
    if (name.starts_with("mov.") && text.find("%warpid") != text.npos)
      return "kfe::ptx_warpid(" + operands.at(0) + ")";
    if (name.starts_with("ldmatrix.sync.aligned.m8n8.x") && name.ends_with(".b16"))
      return std::string("kfe::ptx_ldmatrix<") + (name.find(".trans") != name.npos ? "true" : "false") +
             ">(" + *arguments + ")";
    for (const Instruction& row : kInstructions)
      if (name.starts_with(row.start) && !name.starts_with("cp.async.bulk"))
        return std::string(row.call) + "(" + *arguments + ")";
    return std::nullopt;
  }

  // "{%0, %1}, [%4], 16" with the operands' expressions in the place of their numbers.
  static std::optional<std::string> operands_of(std::string_view text,
                                                const std::vector<std::string>& operands) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '{' || c == '}' || c == '[' || c == ']') continue;
      if (c == '%' && i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1]))) {
        std::size_t number = 0;
        while (i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1])) && number < 1000)
          number = number * 10 + static_cast<std::size_t>(text[++i] - '0');
        if (number >= operands.size()) return std::nullopt;
        out += "(" + operands[number] + ")";
        continue;
      }
      if (c == '%')
        return text.find("%laneid") != text.npos || text.find("%warpid") != text.npos
                   ? std::optional<std::string>("")
                   : std::nullopt;
      out += c;
    }
    return trimmed(out);
  }

  void unsupported(const Statement& statement) {
    const Token& token = list_.tokens[statement.begin];
    const std::size_t first = statement.text.find_first_not_of(" \t{");
    const std::string text = first == std::string::npos ? "" : statement.text.substr(first);
    const auto file = static_cast<std::size_t>(token.file);
    out_.unsupported.push_back({"inline PTX " + text.substr(0, text.find_first_of(" ;\t")),
                                file < list_.files.size() ? list_.files[file] : "", token.line});
  }

  // In the first token's place; line ends stay.
  void replace(const Statement& statement, const std::string& call) {
    for (std::size_t i = statement.begin; i <= statement.end; ++i) {
      Token& token = list_.tokens[i];
      if (!token.is_code()) continue;
      token.kind = Kind::kBlank;
      token.text.clear();
    }
    list_.tokens[statement.begin].text = call;
  }

  TokenList& list_;
  Rewritten& out_;
};

}  // namespace

void rewrite_ptx(TokenList& list, Rewritten& out) { PtxRewriter(list, out).run(); }

}  // namespace kforge::emulate

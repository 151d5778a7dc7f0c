// Device code to C++ that a host compiler takes: the few words of CUDA and MSL that no header can explain are
// rewritten token by token, and nothing else. Lines stay where they were.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emulate/tokens.h"

namespace kforge::emulate {

enum class Language : std::uint8_t { kCuda, kMetal };

// What the emulator's way of calling a kernel needs to know about a parameter.
struct KernelParameter {
  std::string attribute;  // MSL: "buffer", "threadgroup", "thread_position_in_grid", ...; CUDA: ""
  int index = 0;          // of buffer and threadgroup
};
struct KernelSignature {
  std::string name;
  int line = 0;
  std::vector<KernelParameter> parameters;
  std::string callee;  // of a named instance of a template: "name<float>"; else empty
};

// Something of the language that cannot be checked here, or that device code may not have.
struct SourceNote {
  std::string what;
  std::string file;
  int line = 0;
};

struct Rewritten {
  std::string text;
  std::vector<KernelSignature> kernels;
  std::vector<std::string> constants;   // function constants, by name
  std::vector<SourceNote> unsupported;  // the program may be right: it is not verifiable here
  std::vector<SourceNote> refused;      // host code in a device's clothes
  std::vector<SourceNote> errors;       // mistakes that the compiler would explain badly
};

// `text` is the compiler's -E output with the candidate's files below `own`.
Rewritten rewrite(Language language, std::string_view text, std::string_view own);

// The raw text of one of the candidate's files: headers that the emulator does not have.
void look_at_includes(std::string_view text, const std::string& file, Rewritten& out);

// The steps of rewrite(); each changes tokens in place.
void refuse_host_code(const TokenList& list, Rewritten& out);
void find_unsupported(Language language, const TokenList& list, Rewritten& out);
void rewrite_shared(TokenList& list, std::string_view keyword, Rewritten& out);
void rewrite_cuda(TokenList& list, Rewritten& out);
void rewrite_ptx(TokenList& list, Rewritten& out);
void rewrite_metal(TokenList& list, Rewritten& out);

// One record as text between the child that rewrites and its parent, who reads it as hostile.
std::string to_json(const Rewritten& rewritten);
bool from_json(std::string_view text, Rewritten& rewritten);

}  // namespace kforge::emulate

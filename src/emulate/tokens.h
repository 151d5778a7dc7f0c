// Preprocessed C++ as tokens, with the file and line each came from. Only the candidate's own text is cut up;
// what came from other headers is passed on as it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kforge::emulate {

struct Token {
  enum class Kind : std::uint8_t {
    kWord,    // identifiers and keywords
    kNumber,  // with its suffix
    kString,  // and characters, with prefix and quotes
    kSign,    // one of ( ) [ ] { } < > ; , and so on; "::", "->" and "<<<" are one
    kBlank,   // spaces and line ends
    kLine,    // a line marker or #pragma, whole
    kForeign  // text of other headers
  };
  Kind kind = Kind::kBlank;
  std::string text;  // what is written out: the rewriters change it
  int line = 0;      // in `file`
  int file = 0;      // index in TokenList::files

  bool is(std::string_view what) const {
    return text == what && (kind == Kind::kWord || kind == Kind::kSign);
  }
  bool is_code() const { return kind <= Kind::kSign; }
};

struct TokenList {
  std::vector<Token> tokens;
  std::vector<std::string> files;  // of the candidate, by their names there

  // The next or previous token that is code, from `at` on (inclusive); tokens.size() and -1 where there is
  // none.
  std::size_t next(std::size_t at) const;
  std::ptrdiff_t previous(std::ptrdiff_t at) const;
  // The token that closes the bracket at `open`; tokens.size() where nothing does. Angle brackets count only
  // where `open` is one.
  std::size_t closing(std::size_t open) const;
  std::string text() const;
};

// `text` is a compiler's -E output. Files below `own` ("../src/") are the candidate's; line markers lose that
// prefix, so messages name files as the candidate does.
TokenList tokenise(std::string_view text, std::string_view own);

}  // namespace kforge::emulate

// kforge-rewrite cuda|metal PREPROCESSED OWN_PREFIX OUTPUT [SOURCE NAME]...: the rewriter as a program of its
// own, for the sandbox: what it reads is hostile.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "emulate/rewrite.h"

namespace {

std::string content_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

int main(int argc, char** argv) {
  using namespace kforge::emulate;
  if (argc < 5 || argc % 2 == 0) {
    std::fputs("usage: kforge-rewrite cuda|metal PREPROCESSED OWN_PREFIX OUTPUT [SOURCE NAME]...\n", stderr);
    return 2;
  }
  const Language language = std::strcmp(argv[1], "metal") == 0 ? Language::kMetal : Language::kCuda;
  Rewritten rewritten;
  // Before preprocessing, which a header that is not there would end.
  for (int i = 5; i + 1 < argc; i += 2) look_at_includes(content_of(argv[i]), argv[i + 1], rewritten);
  if (std::strcmp(argv[2], "-") != 0) {
    Rewritten made = rewrite(language, content_of(argv[2]), argv[3]);
    made.unsupported.insert(made.unsupported.begin(), rewritten.unsupported.begin(),
                            rewritten.unsupported.end());
    rewritten = std::move(made);
  }
  std::ofstream out(argv[4], std::ios::binary);
  out << to_json(rewritten);
  out.close();
  return out ? 0 : 1;
}

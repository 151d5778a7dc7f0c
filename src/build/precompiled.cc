#include "build/precompiled.h"

#include <unistd.h>

#include <algorithm>

#include "base/file_cache.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "platform/substitute.h"

namespace kforge {
namespace {

constexpr std::size_t kHeaderCacheBytes = std::size_t{1} << 30;
constexpr std::size_t kLargestHeader = 512 << 20;

// Macros and warnings do not change how a header is compiled; the compiler itself checks that no macro in it
// does.
std::vector<std::string> relevant(const std::vector<std::string>& flags) {
  std::vector<std::string> kept;
  std::ranges::copy_if(flags, std::back_inserter(kept), [](const std::string& flag) {
    return !flag.starts_with("-D") && !flag.starts_with("-U") && !flag.starts_with("-W") &&
           !flag.starts_with("-l");
  });
  return kept;
}

// A precompiled header is recognised by its first letters: "gpch" is g++'s. clang's ("CPCH") names the place
// where its source lay when it was made, and is refused in any other.
bool looks_precompiled(std::string_view content) { return content.starts_with("gpch"); }

Result<std::string> compile_header(const Platform& platform, const BuildChoices& choices,
                                   const std::string& text, const std::vector<std::string>& flags) {
  KF_TRY(TempDir work, TempDir::create());
  fs::path source = work.path() / kPrecompiledName, output = work.path() / "out.gch";
  KF_TRY_VOID(write_file_atomic(source, text));
  KF_TRY(std::vector<std::string> argv,
         substitute(platform.build.argv, {{"compiler", {choices.compiler_path.string()}},
                                          {"compiler_flags", choices.compiler.flags},
                                          {"march", choices.march.flags},
                                          {"flags", flags},
                                          {"include", {work.path().string()}},
                                          {"pch", {"-x", "c++-header"}},
                                          {"source", {source.string()}},
                                          {"output", {output.string()}}}));
  // Anything for the linker would make the compiler link.
  std::erase_if(argv, [](const std::string& word) { return word == "-shared" || word.starts_with("-Wl,"); });
  Command command{.argv = std::move(argv), .cwd = work.path(), .timeout = std::chrono::milliseconds(60'000)};
  KF_TRY(Finished finished, run_command(command));
  if (!finished.ok()) return fail("the precompiled header does not compile: {}", finished.err.substr(0, 500));
  KF_TRY(std::string content, read_file(output, kLargestHeader));
  if (!looks_precompiled(content)) return fail("{} made no precompiled header", choices.compiler.name);
  return content;
}

}  // namespace

PrecompiledHeader precompiled_header(const Platform& platform, const BuildChoices& choices) {
  PrecompiledHeader header;
  for (const std::string& name : platform.build.precompiled)
    header.text += fmt::format("#include <{}>\n", name);
  auto home = kforge_home();
  if (header.text.empty() || !home) return header;

  const std::vector<std::string> flags = relevant(choices.flags);
  Hasher hasher;
  hasher.add("pch 2").add(choices.compiler_identity).add(choices.compiler.name).add(header.text);
  for (const auto* list : {&platform.build.argv, &choices.compiler.flags, &choices.march.flags, &flags})
    for (const std::string& word : *list) hasher.add(word);
  std::string key = hasher.hex();
  FileCache cache(*home / "pch", kHeaderCacheBytes);
  header.compiled = cache.find(key);
  if (header.compiled) return header;
  if (cache.find(key + "-none")) return header;
  if (!flags.empty() && !cache.find(key + "-tried")) {
    (void)cache.store(key + "-tried", "once");
    return header;
  }
  if (auto compiled = compile_header(platform, choices, header.text, flags)) {
    if (auto stored = cache.store(key, *compiled)) header.compiled = *stored;
  } else {
    (void)cache.store(key + "-none", compiled.error().message);  // the next time would be no better
  }
  return header;
}

bool still_sound(const PrecompiledHeader& header) {
  if (!header.compiled) return true;
  FileCache cache(header.compiled->parent_path().parent_path(), kHeaderCacheBytes);
  // An entry's file is named by its key, a dot, and the hash of its content.
  return cache.load(header.compiled->stem().string()).has_value();
}

Result<void> stage_precompiled(const PrecompiledHeader& header, const fs::path& folder) {
  fs::path text = folder / kPrecompiledName, compiled = text.string() + ".gch";
  KF_TRY_VOID(write_file_atomic(text, header.text));
  if (!header.compiled || ::link(header.compiled->c_str(), compiled.c_str()) == 0) return {};
  std::error_code ignored;
  // Another file system. If the copy fails (a full disk, an eviction) the text does.
  if (!fs::copy_file(*header.compiled, compiled, ignored)) fs::remove(compiled, ignored);
  return {};
}

}  // namespace kforge

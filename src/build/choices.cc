#include "build/choices.h"

#include <sys/stat.h>

#include <algorithm>
#include <sstream>

#include "base/files.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "platform/glob.h"
#include "platform/programs.h"

namespace kforge {
namespace {

const std::vector<std::string> kDirectives = {"general",    "flags",     "compiler",
                                              "arithmetic", "algebraic", "tune"};

// More than any program means; the command line has its limits too.
constexpr std::size_t kMostFlags = 64, kLongestFlag = 256;

CompileError directive_error(const Candidate& candidate, const Candidate::Directive& directive,
                             const std::string& what) {
  return {fmt::format("{}:{}: error: {}\n", candidate.files[0].name, directive.line, what)};
}

std::string names_of(const std::vector<Compiler>& compilers) {
  std::string text;
  for (const Compiler& compiler : compilers) text += (text.empty() ? "" : ", ") + compiler.name;
  return text;
}

Result<FlagSet> choose_march(const Platform& platform, const Machine& machine, const std::string& wanted) {
  std::vector<std::string> names;
  for (const FlagSet& set : platform.build.march) {
    names.push_back(set.name);
    bool fits = std::ranges::all_of(set.needs,
                                    [&](const std::string& need) { return machine.features.contains(need); });
    if (wanted.empty() ? fits : set.name == wanted) {
      if (fits) return set;
      std::string missing;
      for (const std::string& need : set.needs)
        if (!machine.features.contains(need)) missing += " " + need;
      return fail("this machine cannot run programs for '{}': it lacks{}", wanted, missing);
    }
  }
  if (wanted.empty() && platform.build.march.empty()) return FlagSet{};
  if (wanted.empty()) return fail("no flag set of platform {} fits this machine", platform.name);
  std::string list;
  for (const std::string& name : names) list += " " + name;
  return fail_with_remedy(
      "choose one of:" + list,
      fmt::format("platform {} has no flag set '{}'{}", platform.name, wanted, did_you_mean(wanted, names)));
}

}  // namespace

// Whatever is installed over the compiler or the C library changes one of these files.
std::string compiler_identity(const fs::path& compiler) {
  Hasher hasher;
  for (const fs::path& file : {compiler, fs::path("/usr/include/features.h"), fs::path("/usr/bin/ld")}) {
    std::error_code ignored;
    fs::path real = fs::canonical(file, ignored);
    struct stat info {};
    if (::stat(real.c_str(), &info) != 0) continue;
    hasher.add(
        fmt::format("{} {} {} {}", real.string(), info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec));
  }
  return hasher.hex();
}

Step<BuildChoices> choose(const Candidate& candidate, const Platform& platform, const Machine& machine,
                          const BuildOptions& options) {
  BuildChoices choices;
  const std::vector<Compiler>& compilers = platform.build.compilers;
  choices.compiler = compilers.at(0);
  for (const Candidate::Directive& directive : candidate.directives()) {
    if (std::ranges::find(kDirectives, directive.key) == kDirectives.end())
      return candidate_failed(
          directive_error(candidate, directive,
                          fmt::format("unknown directive '{}'{}", directive.key.substr(0, 60),
                                      did_you_mean(directive.key, kDirectives))));
    if (directive.key == "compiler") {
      auto found = std::ranges::find(compilers, directive.value, &Compiler::name);
      if (found == compilers.end() || !find_program(found->name, platform.sandbox.read))
        return candidate_failed(directive_error(
            candidate, directive,
            fmt::format("compiler '{}' is not {} here; known: {}", directive.value.substr(0, 60),
                        found == compilers.end() ? "allowed" : "installed", names_of(compilers))));
      choices.compiler = *found;
    }
    if (directive.key != "flags") continue;
    std::istringstream words(directive.value);
    for (std::string flag; words >> flag;) {
      bool allowed = listed(platform.build.allowed_flags, flag) ||
                     (options.allow_libraries && listed(platform.build.library_flags, flag));
      if (!allowed)
        return candidate_failed(directive_error(
            candidate, directive,
            fmt::format("flag '{}' is not among those a program may choose{}", flag.substr(0, 60),
                        did_you_mean(flag, platform.build.allowed_flags))));
      if (flag.size() > kLongestFlag || choices.flags.size() == kMostFlags)
        return candidate_failed(directive_error(
            candidate, directive,
            fmt::format("a program may choose {} flags of {} characters", kMostFlags, kLongestFlag)));
      choices.flags.push_back(flag);
    }
  }
  auto path = find_program(choices.compiler.name, platform.sandbox.read);
  if (!path)
    return fail_with_remedy(
        platform.probe.remedy.empty()
            ? "install it; one outside /usr is found when 'sandbox.read' names its folder"
            : platform.probe.remedy,
        fmt::format("no compiler {} below /usr in PATH, nor in a folder of 'sandbox.read'",
                    choices.compiler.name));
  choices.compiler_path = *path;
  choices.compiler_identity = compiler_identity(*path);
  KF_TRY(choices.march, choose_march(platform, machine, options.march));
  return choices;
}

}  // namespace kforge

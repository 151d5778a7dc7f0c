#include "judge/wrong_command_programs.h"

#include <algorithm>

#include "base/files.h"

namespace kforge {
namespace {

constexpr const char *kCheckFolder = "check", *kTwice = "twice";

Result<Candidate> check_program(const fs::path& file, const Platform& platform) {
  KF_TRY(auto read, read_candidate(file, platform));
  if (!read) return fail("{}: {}", file.string(), reason_text(read.error()));
  read->origin = "platforms check";
  return *read;
}

}  // namespace

Result<std::vector<WrongProgram>> wrong_command_programs(const Platform& platform) {
  std::vector<fs::path> files;
  std::error_code error;
  const fs::path folder = platform.folder / kCheckFolder;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == platform.files.front() && it->path().stem() != kTwice)
      files.push_back(it->path());
  if (files.empty())
    return fail(
        "{} has no programs that must fail: the platform's language is its own, so its folder brings them",
        folder.string());
  std::ranges::sort(files);
  std::vector<WrongProgram> programs;
  for (const fs::path& file : files) {
    WrongProgram program;
    program.name = file.stem().string();
    KF_TRY(program.candidate, check_program(file, platform));
    KF_TRY_VOID(
        read_comments(file.string(), program.candidate.files.front().content, program, platform.comment));
    programs.push_back(std::move(program));
  }
  return programs;
}

Result<Candidate> twice_command_example(const Platform& platform) {
  const fs::path file = platform.folder / kCheckFolder / (kTwice + platform.files.front());
  if (!fs::exists(file))
    return fail("there is no {}: the example's work done twice in every call", file.string());
  return check_program(file, platform);
}

}  // namespace kforge

#include "mcp/own_program.h"

#include <algorithm>

#include "base/environment.h"
#include "base/subprocess.h"
#include "base/text.h"

namespace kforge::mcp {

Result<OwnProgram> OwnProgram::here(const std::string& root) {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail("cannot find the program itself: {}", error.message());
  fs::path folder = fs::canonical(root, error);
  if (error) return fail_with_remedy("--root names another", fmt::format("{}: {}", root, error.message()));
  return OwnProgram(std::move(program), std::move(folder));
}

Result<OwnProgram::Answer> OwnProgram::run(std::vector<std::string> arguments, const std::stop_token& stop,
                                           double limit_seconds) const {
  return run(std::move(arguments), stop, limit_seconds, {});
}

Result<OwnProgram::Answer> OwnProgram::run_for(const ToolCall& call, std::vector<std::string> arguments,
                                               double limit_seconds) const {
  return run(std::move(arguments), call.stop, limit_seconds, [&call](std::string_view line) {
    if (const std::string_view said = trimmed(line); !said.empty()) call.say(said);
  });
}

Result<OwnProgram::Answer> OwnProgram::run(std::vector<std::string> arguments, const std::stop_token& stop,
                                           double limit_seconds,
                                           std::function<void(std::string_view)> on_error_line) const {
  Command command;
  command.argv = std::move(arguments);
  command.argv.insert(command.argv.begin(), program_.string());
  command.env = whole_environment();  // models need their keys
  command.cwd = root_;
  command.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(limit_seconds * 1e3));
  command.output_limit = std::size_t{64} << 20;
  command.dies_with_us = true;
  command.stop = stop;
  command.on_error_line = std::move(on_error_line);
  KF_TRY(Finished done, run_command(command));
  if (done.timed_out) return fail("it did not end within {:.0f} s", limit_seconds);
  if (done.signal) return fail("it ended by signal {}: {}", done.signal, trimmed(done.err));
  Answer answer{done.exit_code, {}, Json::parse(done.out, nullptr, false)};
  if (answer.document.is_discarded()) answer.document = nullptr;
  answer.out = std::move(done.out);
  if (answer.document.is_null() && answer.out.empty()) answer.out = done.err;
  return answer;
}

Result<fs::path> OwnProgram::inside(const std::string& path) const {
  std::error_code error;
  const fs::path root = fs::weakly_canonical(root_, error);
  const fs::path whole = fs::weakly_canonical(root / path, error);
  if (error) return fail("'{}' cannot be looked at: {}", path, error.message());
  const auto [end, ignored] = std::ranges::mismatch(root, whole);
  if (end != root.end())
    return fail("'{}' lies outside of {}, the folder this server works in (kforge mcp --root DIR)", path,
                root.string());
  return whole;
}

Result<std::string> OwnProgram::name_or_path(const std::string& what, const std::string& value) const {
  if (const auto equals = value.find('='); equals != std::string::npos) {
    KF_TRY(std::string name, plain_word(what, value.substr(0, equals)));
    KF_TRY(fs::path file, inside(value.substr(equals + 1)));
    return name + "=" + file.string();
  }
  KF_TRY(std::string word, plain_word(what, value));
  // Anything else is looked up from the root.
  if (!word.starts_with('/') && !word.starts_with('.') && word.find("..") == std::string::npos) return word;
  KF_TRY(fs::path path, inside(word));
  return path.string();
}

Result<std::string> plain_word(const std::string& name, const std::string& value) {
  if (value.empty() || value.starts_with('-')) return fail("'{}' cannot be \"{}\"", name, value);
  return value;
}

}  // namespace kforge::mcp

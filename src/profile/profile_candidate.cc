#include "profile/profile_candidate.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "generate/quote.h"
#include "platform/programs.h"
#include "platform/substitute.h"
#include "profile/device/simt_model.h"
#include "profile/findings.h"
#include "profile/stage.h"

namespace kforge {
namespace {

constexpr const char* kNeedsHotLoop = "no hot loop without calls was found";

// The last thing a command complained about.
std::string_view printable_end(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return text.substr(text.rfind('\n') + 1);
}

class Profiling {
 public:
  explicit Profiling(const ProfileInput& input) : input_(input) { findings_.input = &input; }

  Profile run() {
    for (const Profiler& profiler : input_.platform->profilers) {
      if (!wanted(profiler) || (input_.stop && input_.stop())) continue;
      if (input_.progress) input_.progress(profiler.name);
      if (auto done = run_one(profiler); !done) absent(profiler, done.error());
    }
    return std::move(findings_.profile);
  }

  Result<Said> run_model(const Profiler& command) { return run_command_of(command); }

 private:
  bool wanted(const Profiler& profiler) const {
    if (input_.without.contains(profiler.name)) return false;
    if (profiler.when == "always" || input_.also.contains(profiler.name)) return true;
    // What another one that is asked for builds on.
    return std::ranges::any_of(input_.platform->profilers, [&](const Profiler& other) {
      return other.after == profiler.name && input_.also.contains(other.name);
    });
  }

  void absent(const Profiler& profiler, const Error& error) {
    std::string remedy = error.remedy.empty() ? "" : fmt::format(" ({})", error.remedy);
    findings_.profile.absent.push_back(
        fmt::format("{}: {}{}", profiler.name, single_line(error.message, 200), remedy));
  }

  Result<void> run_one(const Profiler& profiler) {
    Parser parser = find_parser(profiler.parser);
    if (!parser) return fail("there is no parser '{}'", profiler.parser);
    Said said;
    if (!profiler.argv.empty()) {
      KF_TRY(said, run_command_of(profiler));
    } else if (!profiler.build_flags.empty()) {
      KF_TRY(said.err, build_log(profiler));
    }
    said.profiler = profiler.name;
    bool found = parser(said, findings_);
    if (found && !said.product.empty()) products_[profiler.name] = std::move(said.product);
    return {};
  }

  // The build a profiler works on: the program's own, or one with its own flags.
  Result<Build> build_for(const Profiler& profiler, bool raw_log) {
    if (profiler.build_flags.empty() && profiler.march.empty() && !raw_log) {
      if (!input_.build) return fail("the program was not built");
      return *input_.build;
    }
    if (!input_.candidate || !input_.task || !input_.machine) return fail("there is no program to build");
    BuildOptions options;
    options.tier = input_.tier;
    options.allow_libraries = input_.allow_libraries;
    options.raw_log = raw_log;
    options.march = profiler.march.empty() && input_.build ? input_.build->march : profiler.march;
    KF_TRY(std::vector<std::string> flags, substitute(profiler.build_flags, {{"remarks", remark_flags()}}));
    if (flags.empty() && raw_log) return fail("this compiler gives no remarks");
    options.extra_flags = flags;
    KF_TRY(auto built,
           build_candidate(*input_.candidate, *input_.platform, *input_.task, *input_.machine, options));
    if (!built)
      return fail("the program does not build {}",
                  profiler.march.empty() ? "for this" : "with flag set " + profiler.march);
    return std::move(*built);
  }

  Result<std::string> build_log(const Profiler& profiler) {
    KF_TRY(Build build, build_for(profiler, true));
    return build.log;
  }

  // Of the compiler that built the program.
  std::vector<std::string> remark_flags() const {
    if (!input_.build || input_.build->command.empty()) return {};
    std::string program = fs::path(input_.build->command.front()).filename().string();
    for (const Compiler& compiler : input_.platform->build.compilers)
      if (compiler.name == program || fs::path(compiler.name).filename() == program) return compiler.remarks;
    return {};
  }

  std::string mcpu() const {
    if (input_.build)
      for (const std::string& word : input_.build->command)
        if (word.starts_with("-march=")) return word.substr(7);
    return "x86-64";
  }

  Result<void> open_stage() {
    if (stage_) return {};
    KF_TRY(stage_, ProfileStage::create(input_));
    return {};
  }

  bool mentions(const Profiler& profiler, std::string_view variable) const {
    std::string word = fmt::format("${{{}}}", variable);
    return std::ranges::any_of(
        profiler.argv, [&](const std::string& argument) { return argument.find(word) != std::string::npos; });
  }

  Result<std::string> program_path(const Profiler& profiler) {
    const std::string& name = profiler.argv.front();
    if (name.starts_with("${") || name.starts_with('/')) return name;
    auto found = find_program(name, input_.platform->sandbox.read);
    if (!found) return fail_with_remedy(profiler.remedy, fmt::format("{} is not installed", name));
    return found->string();
  }

  Result<Said> run_command_of(const Profiler& profiler) {
    KF_TRY_VOID(open_stage());
    Substitutions values;
    bool runs_kernel = profiler.runs == "kernel" || profiler.runs == "attach";
    if (mentions(profiler, "artefact") || mentions(profiler, "call") || profiler.runs == "attach") {
      KF_TRY(Build build, build_for(profiler, false));
      KF_TRY(fs::path artefact, stage_->place_artefact(build.artefact, build.artefact_hash));
      values["artefact"] = {artefact.string()};
      if (runs_kernel) {
        KF_TRY(values["call"],
               stage_->call_command(artefact, profiler.runs == "attach"
                                                  ? std::vector<std::string>{"--wait", "--seconds", "1"}
                                                  : std::vector<std::string>()));
      }
    }
    if (mentions(profiler, "hot_loop")) {
      if (findings_.hot_loop_assembly.empty()) return fail("{}", kNeedsHotLoop);
      KF_TRY(fs::path file, stage_->write_file("hot_loop.s", findings_.hot_loop_assembly));
      values["hot_loop"] = {file.string()};
    }
    if (!profiler.after.empty()) {
      auto product = products_.find(profiler.after);
      if (product == products_.end()) return fail("needs what '{}' writes", profiler.after);
      KF_TRY(fs::path file, stage_->write_file(profiler.after + ".out", product->second));
      values[profiler.after] = {file.string()};
    }
    if (mentions(profiler, "count_plugin")) {
      KF_TRY(fs::path plugin, helper_program("kforge-count.so"));
      KF_TRY(values["count_plugin"], stage_->place_helper(plugin));
    }
    values["mcpu"] = {mcpu()};
    values["platform"] = {(stage_->folder() / "platform").string()};
    values["platforms"] = {(stage_->folder() / "platforms").string()};
    values["sources"] = {stage_->sources().string()};
    values["output"] = {stage_->next_output(profiler.product).string()};
    values["pid"] = {"${pid}"};  // filled in when it runs

    ProfileStage::Order order;
    KF_TRY(std::string program, program_path(profiler));
    std::vector<std::string> argv = profiler.argv;
    argv.front() = program;
    if (mentions(profiler, "platform")) KF_TRY_VOID(stage_files("platform", input_.platform->folder));
    if (mentions(profiler, "platforms")) {
      KF_TRY(fs::path root, data_root());
      KF_TRY_VOID(stage_files("platforms", root / "platforms"));
    }
    KF_TRY(argv, substitute(argv, values));
    order.threads = profiler.threads > 0 ? profiler.threads : input_.threads;
    order.timeout_seconds = profiler.timeout_seconds;
    order.product = profiler.product;
    order.with_tensors = runs_kernel;
    order.argv = argv;
    order.profile = runs_kernel                 ? SandboxProfile::kDriver
                    : profiler.runs == "window" ? SandboxProfile::kDesktop
                                                : SandboxProfile::kCompile;
    if (profiler.runs == "window") order.readable = {"/etc/fonts", "/etc/X11"};
    if (profiler.runs == "attach") order.watcher = argv, order.argv = values["call"];
    return stage_->run(order);
  }

  // Scripts of a folder, where the unprivileged program can read them.
  Result<void> stage_files(const char* name, const fs::path& from) {
    std::error_code error;
    fs::path to = stage_->folder() / name;
    if (fs::exists(to, error)) return {};
    fs::create_directory(to, error);
    for (fs::directory_iterator it(from, error), end; !error && it != end; it.increment(error))
      if (it->is_regular_file(error)) fs::copy_file(it->path(), to / it->path().filename(), error);
    if (!error) fs::permissions(to, fs::perms(0755), error);
    for (fs::directory_iterator it(to, error), end; !error && it != end; it.increment(error))
      fs::permissions(it->path(), fs::perms(0755), error);
    if (error) return fail("cannot copy {}: {}", from.string(), error.message());
    return {};
  }

  const ProfileInput& input_;
  Findings findings_;
  std::optional<ProfileStage> stage_;
  std::map<std::string, std::string> products_;
};

}  // namespace

Profile profile_candidate(const ProfileInput& input) {
  KF_CHECK(input.platform, "a profile needs a platform");
  return Profiling(input).run();
}

Result<double> parse_modelled_ns(std::string_view text) {
  std::optional<double> found;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with("modelled_ns ")) continue;
    if (found) return fail("the cost model printed more than one figure");
    line.remove_prefix(12);
    double ns = 0;
    auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), ns);
    if (problem != std::errc() || end != line.data() + line.size() || !(ns > 0 && ns < 1e18))
      return fail("the cost model printed '{}', which is no time", single_line(line, 60));
    found = ns;
  }
  if (!found) return fail("the cost model printed no line 'modelled_ns NUMBER'");
  return *found;
}

Result<ModelledTime> modelled_time(const ProfileInput& input, const CostModel& model) {
  KF_CHECK(input.platform, "a cost model needs a platform");
  if (model.chip) return simt_time(input, *model.chip);
  KF_TRY(Said said, Profiling(input).run_model(model.command));
  auto ns = parse_modelled_ns(said.out);
  if (ns) return ModelledTime{*ns, {}};
  std::string words = single_line(printable_end(said.err), 200);
  return fail("{}{}", ns.error().message, words.empty() ? "" : ": " + words);
}

}  // namespace kforge

// kforge doctor: what is installed, what is missing, what it is for, and the command that installs it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "base/readable.h"
#include "base/subprocess.h"
#include "baseline/python_probe.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "llm/config.h"
#include "llm/probe_models.h"
#include "platform/platform.h"
#include "sandbox/sandbox.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

struct Finding {
  std::string name;
  bool there = false;
  bool required = false;
  std::string found;   // version or place; where it is missing: why
  std::string use;     // what it is for
  std::string remedy;  // the command that installs it; only where it is missing
};

std::string in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0 ? program : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::string place = folder + "/" + program; ::access(place.c_str(), X_OK) == 0) return place;
  return "";
}

// The first line of `program --version`.
std::string version_of(const std::string& program) {
  auto done = run_command({.argv = {program, "--version"}, .timeout = std::chrono::seconds(5)});
  if (!done || !done->ok()) return "";
  return printable(done->out.substr(0, done->out.find('\n')));
}

Finding program(const std::string& name, bool required, const std::string& use, const std::string& remedy) {
  std::string place = in_path(name);
  Finding finding{name, !place.empty(), required, place.empty() ? "not found" : version_of(place),
                  use,  remedy};
  if (finding.there && finding.found.empty()) finding.found = place;
  return finding;
}

Finding home() {
  Finding finding{"KFORGE_HOME", false, true, "", "the store, caches and measured peaks", ""};
  auto place = kforge_home();
  if (!place) {
    finding.found = place.error().message;
    finding.remedy = place.error().remedy;
    return finding;
  }
  std::error_code error;
  auto space = fs::space(*place, error);
  finding.there = ::access(place->c_str(), W_OK | X_OK) == 0;
  finding.found =
      fmt::format("{}, {} free", place->string(), readable_bytes(static_cast<double>(space.available)));
  if (!finding.there) finding.remedy = "set KFORGE_HOME to a folder that you may write";
  if (finding.there && space.available < (std::uintmax_t{1} << 30)) {
    finding.there = false;
    finding.remedy = "kforge clean";
  }
  return finding;
}

Finding data() {
  auto place = data_root();
  Finding finding{"KFORGE_DATA", place.has_value(), true, "", "tasks, platforms and prompts", ""};
  finding.found = place ? place->string() : place.error().message;
  if (!place) finding.remedy = place.error().remedy;
  return finding;
}

Finding sandbox() {
  Finding finding{"sandbox",
                  false,
                  true,
                  "",
                  "keeps kernels from everything but their tensors",
                  "apt-get install bubblewrap"};
  auto tier = strongest_tier();
  finding.there = tier.has_value();
  finding.found = tier ? std::string(name_of(*tier)) : tier.error().message;
  if (tier && *tier != SandboxTier::kBubblewrap) {
    auto why = tier_unavailable(SandboxTier::kBubblewrap);
    finding.found += fmt::format(" (the weaker one; bubblewrap: {})", why.value_or("works"));
  }
  return finding;
}

void add_python(std::vector<Finding>& findings) {
  auto home = kforge_home();
  std::vector<PythonFacts> asked;
  for (const fs::path& python : python_candidates({}))
    asked.push_back(probe_python(python, home ? *home / "cache" : fs::temp_directory_path()));
  auto add = [&](const char* package, const char* use, const char* remedy) {
    Finding finding{package, false, false, "not found in any Python", use, remedy};
    std::string newest;
    for (const PythonFacts& facts : asked)
      if (auto version = facts.versions.find(package);
          version != facts.versions.end() && (!finding.there || is_newer(version->second, newest))) {
        finding.there = true;
        newest = version->second;
        finding.found = fmt::format("{} in {}", version->second, facts.python.string());
      }
    findings.push_back(std::move(finding));
  };
  add("numpy", "the baselines in Python, and check.py of a run", "apt-get install python3-numpy");
  add("onnxruntime", "a baseline, often the fastest", "scripts/setup.sh platforms");
  add("openvino", "a baseline, often the fastest", "scripts/setup.sh platforms");
  add("torch", "the baselines torch and torch.compile", "scripts/setup.sh platforms");
}

void add_platforms(std::vector<Finding>& findings) {
  auto platforms = list_platforms();
  if (!platforms) {
    findings.push_back({"platforms", false, true, platforms.error().message, "what kernels are written for",
                        platforms.error().remedy});
    return;
  }
  for (const ListedPlatform& listed : *platforms) {
    if (!listed.platform) {
      findings.push_back({"platform " + listed.name, false, false, listed.platform.error().message,
                          "a folder of yours", listed.platform.error().remedy});
      continue;
    }
    const Platform& platform = *listed.platform;
    Readiness ready = probe_platform(platform);
    findings.push_back({"platform " + platform.name, ready.usable(), platform.name == "cpu", ready.reason,
                        platform.description, ready.remedy});
    for (const Profiler& profiler : platform.profilers) {
      if (profiler.argv.empty() || profiler.argv[0].starts_with("${") || profiler.argv[0] == "/bin/sh")
        continue;
      bool known =
          std::ranges::any_of(findings, [&](const Finding& f) { return f.name == profiler.argv[0]; });
      if (!known)
        findings.push_back(program(profiler.argv[0], false, "the profiler " + profiler.name,
                                   profiler.remedy.empty() ? "scripts/setup.sh platforms" : profiler.remedy));
    }
  }
}

Finding models() {
  Finding finding{"models",
                  false,
                  false,
                  "none is set up",
                  "language models that write kernels; the built-in agents need none",
                  "docs/models.md says how; `kforge models` tests them"};
  auto config = load_model_config("");
  if (!config) {
    finding.found = config.error().message;
    return finding;
  }
  std::vector<std::string> names = configured_models(*config);
  finding.there = !names.empty();
  if (finding.there) {
    finding.found.clear();
    for (const std::string& name : names) finding.found += (finding.found.empty() ? "" : ", ") + name;
  }
  return finding;
}

std::vector<Finding> examine() {
  std::vector<Finding> findings = {home(), data(), sandbox()};
  findings.push_back(program("g++", true, "compiles kernels", "apt-get install g++"));
  findings.push_back(
      program("cmake", false, "builds the callers in a run's folder", "apt-get install cmake"));
  add_python(findings);
  add_platforms(findings);
  findings.push_back(models());
  return findings;
}

void print(const std::vector<Finding>& findings) {
  TerminalStyle style = terminal_style();
  Paint paint(style.colour);
  auto width = static_cast<std::size_t>(style.width);
  auto line = [&](std::size_t indent, std::string_view text) {
    for (const std::string& part : wrap(text, width - indent))
      fmt::print("{}{}\n", std::string(indent, ' '), part);
  };
  std::size_t missing = 0;
  for (const Finding& f : findings) {
    std::string mark = f.there ? paint.good("yes") : f.required ? paint.bad("NO ") : paint.warn("no ");
    std::string head = fmt::format("{}: {}", f.name, f.use);
    std::vector<std::string> lines = wrap(head, width - 5);
    for (std::size_t i = 0; i < lines.size(); ++i) fmt::print("{}  {}\n", i ? "   " : mark, lines[i]);
    if (!f.found.empty()) line(7, printable(f.found));
    if (!f.there && !f.remedy.empty()) line(7, "-> " + f.remedy);
    missing += !f.there;
  }
  bool usable = std::ranges::none_of(findings, [](const Finding& f) { return f.required && !f.there; });
  fmt::print("\n{}\n", usable ? fmt::format("KForge works here; {} further thing{} could be installed",
                                            missing, missing == 1 ? "" : "s")
                              : paint.bad("KForge does not work here until what is marked NO is there"));
}

int report_findings(bool json) {
  std::vector<Finding> findings = examine();
  bool usable = std::ranges::none_of(findings, [](const Finding& f) { return f.required && !f.there; });
  if (json) {
    Json list = Json::array();
    for (const Finding& f : findings)
      list.push_back({{"name", f.name},
                      {"there", f.there},
                      {"required", f.required},
                      {"found", f.found},
                      {"use", f.use},
                      {"remedy", f.there || f.remedy.empty() ? Json(nullptr) : Json(f.remedy)}});
    fmt::print("{}\n", Json{{"schema", "kforge.doctor/1"}, {"usable", usable}, {"findings", list}}.dump(
                           2, ' ', false, Json::error_handler_t::replace));
  } else {
    print(findings);
  }
  return usable ? kExitPassed : kExitNotPassed;
}

}  // namespace

void declare_doctor(CLI::App& command, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "as JSON");
  command.footer("Exit code: 0 KForge works here, 1 something that it cannot do without is missing.");
  command.callback([json, &exit_code] { exit_code = report_findings(*json); });
}

}  // namespace kforge

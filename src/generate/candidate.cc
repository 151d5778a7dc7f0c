#include "generate/candidate.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "generate/comment_lines.h"

namespace kforge {
namespace {

constexpr std::string_view kTaskHeader = "task.h";

std::string list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// Position in the platform's list, or its size when the extension is not there.
std::size_t rank(const fs::path& path, const std::vector<std::string>& extensions) {
  return static_cast<std::size_t>(std::ranges::find(extensions, path.extension().string()) -
                                  extensions.begin());
}

Step<SourceFile> read_source(const fs::path& path, std::string name, std::size_t& bytes_left) {
  std::error_code error;
  // Size and kind come first: a huge file is never read, and a pipe would block.
  if (!fs::is_regular_file(path, error))
    return candidate_failed(NoProgram{fmt::format("{} is not a regular file", name)});
  std::uintmax_t size = fs::file_size(path, error);
  if (error) return fail("cannot read {}: {}", path.string(), error.message());
  if (size > bytes_left)
    return candidate_failed(NoProgram{
        fmt::format("{} has {} bytes: a program may have {} MiB in all", name, size, kMaxSourceBytes >> 20)});
  KF_TRY(std::string content, read_file(path, bytes_left));
  if (content.find('\0') != std::string::npos)
    return candidate_failed(NoProgram{fmt::format("{} is not text: it has zero bytes", name)});
  bytes_left -= content.size();
  return SourceFile{std::move(name), std::move(content)};
}

// Relative names of the folder's source files, sorted, so that the order does not depend on the file system.
Step<std::vector<std::string>> list_sources(const fs::path& folder,
                                            const std::vector<std::string>& extensions) {
  std::vector<std::string> names;
  std::error_code error;
  std::size_t seen = 0;
  bool of_a_run = fs::exists(folder / kRunManifest, error);
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (++seen > 10'000 || it.depth() > 8)
      return candidate_failed(NoProgram{"the folder is too large or too deep to be one program"});
    if (of_a_run && it.depth() == 0 &&
        (it->path().filename() == "check" || it->path().filename() == "build")) {
      it.disable_recursion_pending();
      continue;
    }
    if (rank(it->path(), extensions) == extensions.size()) continue;
    std::string name = it->path().lexically_relative(folder).string();
    if (name == kTaskHeader) continue;
    if (it->is_symlink()) return candidate_failed(NoProgram{fmt::format("{} is a symbolic link", name)});
    if (it->is_directory(error)) continue;
    if (!good_source_name(name))
      return candidate_failed(
          NoProgram{fmt::format("the file name '{}' is not usable: letters, digits, _ . + - only", name)});
    names.push_back(std::move(name));
    if (names.size() > kMaxSourceFiles)
      return candidate_failed(NoProgram{fmt::format("more than {} source files", kMaxSourceFiles)});
  }
  if (error) return fail("cannot read the folder {}: {}", folder.string(), error.message());
  std::sort(names.begin(), names.end());
  return names;
}

// The main file: kernel.* of the best extension, else the only file of the best extension that occurs.
Step<std::string> choose_main(const std::vector<std::string>& names,
                              const std::vector<std::string>& extensions) {
  auto better = [&](const std::string& a, const std::string& b) {
    return rank(a, extensions) < rank(b, extensions);
  };
  std::vector<std::string> kernels;
  std::ranges::copy_if(names, std::back_inserter(kernels), [](const fs::path& name) {
    return name.stem() == "kernel" && !name.has_parent_path();
  });
  if (!kernels.empty()) return *std::ranges::min_element(kernels, better);
  std::size_t best = rank(*std::ranges::min_element(names, better), extensions);
  if (std::ranges::count_if(names, [&](const std::string& name) { return rank(name, extensions) == best; }) !=
      1)
    return candidate_failed(
        NoProgram{fmt::format("several {} files and none is called kernel{}: which one is the main file?",
                              extensions[best], extensions[best])});
  return *std::ranges::min_element(names, better);
}

Step<Candidate> read_folder(const fs::path& folder, const std::vector<std::string>& extensions) {
  KF_STEP(std::vector<std::string> names, list_sources(folder, extensions));
  if (names.empty())
    return candidate_failed(
        NoProgram{fmt::format("no source file in {}: expected {}", folder.string(), list(extensions))});
  KF_STEP(std::string main, choose_main(names, extensions));
  std::rotate(names.begin(), std::ranges::find(names, main), std::ranges::find(names, main) + 1);
  Candidate candidate;
  std::size_t bytes_left = kMaxSourceBytes;
  for (std::string& name : names) {
    KF_STEP(SourceFile file, read_source(folder / name, name, bytes_left));
    candidate.files.push_back(std::move(file));
  }
  return candidate;
}

Step<Candidate> read_single_file(const fs::path& path, const std::vector<std::string>& extensions) {
  if (rank(path, extensions) == extensions.size())
    return candidate_failed(NoProgram{fmt::format("{} has none of the endings this platform takes: {}",
                                                  path.filename().string(), list(extensions))});
  std::size_t bytes_left = kMaxSourceBytes;
  std::string name = path.filename().string();
  if (!good_source_name(name) || name == kTaskHeader) name = "kernel" + path.extension().string();
  KF_STEP(SourceFile file, read_source(path, name, bytes_left));
  return Candidate{{std::move(file)}, {}};
}

}  // namespace

bool good_source_name(std::string_view name) {
  if (name.empty() || name.size() > 200) return false;
  bool start = true;
  for (unsigned char c : name) {
    if (start && (c == '-' || c == '.' || c == '/')) return false;
    if (!std::isalnum(c) && c != '_' && c != '.' && c != '+' && c != '-' && c != '/') return false;
    start = c == '/';
  }
  return !start;
}

std::string Candidate::content_hash() const {
  Hasher hasher;
  for (const SourceFile& file : files) hasher.add(file.name).add(file.content);
  return hasher.hex();
}

std::vector<Candidate::Directive> Candidate::directives() const {
  constexpr std::string_view kMark = "kforge:";
  std::vector<Directive> found;
  if (files.empty()) return found;
  for (const auto& [line, comment] : comment_lines(files[0].content, comment)) {
    std::string_view text = trimmed(comment);
    if (!text.starts_with(kMark)) continue;
    text = trimmed(text.substr(kMark.size()));
    std::size_t space = std::min(text.find_first_of(" \t"), text.size());
    found.push_back({std::string(text.substr(0, space)), std::string(trimmed(text.substr(space))), line});
  }
  return found;
}

bool Candidate::claims_general() const {
  if (std::ranges::any_of(directives(), [](const Directive& d) { return d.key == "general"; })) return true;
  if (!plan()) return false;
  const auto json = nlohmann::json::parse(plan()->content, nullptr, false);
  return json.is_object() && json.contains("general") && json["general"] == true;
}

const SourceFile* Candidate::plan() const {
  auto found = std::ranges::find(files, kPlanFile, &SourceFile::name);
  return found == files.end() ? nullptr : &*found;
}

Step<Candidate> read_candidate(const fs::path& path, const std::vector<std::string>& extensions) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    return fail_with_remedy(
        "name a source file, or a folder with kernel" + (extensions.empty() ? "" : extensions[0]),
        fmt::format("no such kernel: {}", path.string()));
  auto candidate =
      fs::is_directory(status) ? read_folder(path, extensions) : read_single_file(path, extensions);
  if (!candidate || !candidate->has_value()) return candidate;
  Candidate& read = **candidate;
  if (trimmed(read.files[0].content).empty())
    return candidate_failed(NoProgram{fmt::format("{} is empty", read.files[0].name)});
  fs::path named = path.has_filename() ? path : path.parent_path();
  read.origin = fmt::format("{} {}", fs::is_directory(status) ? "folder" : "file", named.filename().string());
  return candidate;
}

Step<Candidate> read_candidate(const fs::path& path, const Platform& platform) {
  KF_STEP(Candidate candidate, read_candidate(path, platform.files));
  candidate.comment = platform.comment;
  if (platform.kind != PlatformKind::kDevice || candidate.plan()) return candidate;
  std::error_code error;
  const fs::path file = (fs::is_directory(path, error) ? path : path.parent_path()) / kPlanFile;
  const fs::file_status status = fs::symlink_status(file, error);
  if (!fs::exists(status))
    return candidate_failed(
        NoProgram{fmt::format("there is no {} beside {}: a device program is its source and a launch plan",
                              kPlanFile, candidate.files.front().name)});
  if (fs::is_symlink(status))
    return candidate_failed(NoProgram{fmt::format("{} is a symbolic link", kPlanFile)});
  std::size_t bytes_left = kMaxSourceBytes;
  for (const SourceFile& source : candidate.files) bytes_left -= source.content.size();
  KF_STEP(SourceFile plan, read_source(file, kPlanFile, bytes_left));
  candidate.files.push_back(std::move(plan));
  return candidate;
}

}  // namespace kforge

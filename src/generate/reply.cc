#include "generate/reply.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "generate/elision.h"
#include "generate/quote.h"
#include "generate/reply_blocks.h"
#include "generate/reply_edits.h"
#include "generate/reply_names.h"

namespace kforge {
namespace {

constexpr std::string_view kForm =
    "Send the whole program: one fenced block per file, opened by a line of four backticks followed by the "
    "language and "
    "path=NAME, closed by a line of four backticks.";

std::string_view after_thinking(std::string_view text) {
  constexpr std::string_view kEnd = "</think>";
  std::size_t end = text.find(kEnd);
  return end == std::string_view::npos ? text : text.substr(end + kEnd.size());
}

// What stands behind "LABEL:" on a line of the prose, with whatever emphasis around it. "" when no line has
// it.
std::string labelled(std::string_view prose, std::string_view label) {
  constexpr std::string_view kEmphasis = " \t*#_>-`";
  for (std::string_view line : lines_of(prose.substr(0, 20'000))) {
    line.remove_prefix(std::min(line.find_first_not_of(kEmphasis), line.size()));
    if (line.size() <= label.size() || lower_case(line.substr(0, label.size())) != lower_case(label))
      continue;
    line.remove_prefix(label.size());
    line.remove_prefix(std::min(line.find_first_not_of(kEmphasis), line.size()));
    if (!line.starts_with(':')) continue;
    line.remove_prefix(1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t*_"), line.size()));
    return single_line(line);
  }
  return "";
}

// The line "CHANGE: ...", else the first line of prose.
std::string stated_change(std::string_view prose) {
  if (std::string stated = labelled(prose, "CHANGE"); !stated.empty()) return stated;
  for (std::string_view line : lines_of(prose.substr(0, 20'000))) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t*#_>-"), line.size()));
    if (!line.empty() && labelled(line, "FOLLOWED").empty()) return single_line(line);
  }
  return "";
}

// "FOLLOWED: yes" or "no". Nothing: the reply does not say.
std::optional<bool> stated_followed(std::string_view prose) {
  std::string answer = lower_case(labelled(prose, "FOLLOWED"));
  if (answer.starts_with("yes")) return true;
  if (answer.starts_with("no")) return false;
  return std::nullopt;
}

// Programs equal but for blanks are the same attempt.
std::string squeezed(const Candidate& program) {
  std::string text;
  for (const SourceFile& file : program.files) {
    for (char c : file.content)
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') text += c;
    text += '\n';
  }
  return text;
}

bool is_diff(std::string_view tag, std::string_view content) {
  return tag == "diff" || tag == "patch" || content.starts_with("--- ") || content.starts_with("@@ ") ||
         content.starts_with("*** Begin Patch");
}

bool undo_entities(std::string& code) {
  if (code.find("#include &lt;") == std::string::npos && code.find("&lt;&lt;") == std::string::npos)
    return false;
  constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  std::string plain;
  for (std::size_t at = 0; at < code.size();) {
    auto entity = std::ranges::find_if(
        kEntities, [&](const auto& e) { return code.compare(at, e.first.size(), e.first) == 0; });
    if (entity == std::end(kEntities)) {
      plain += code[at++];
    } else {
      plain += entity->second;
      at += entity->first.size();
    }
  }
  code = std::move(plain);
  return true;
}

class Reader {
 public:
  Reader(std::string_view text, const ReplyRules& rules)
      : text_(text), rules_(rules), scan_(scan_blocks(text)) {
    main_ = "kernel" + (rules.extensions.empty() ? std::string(".cc") : rules.extensions.front());
    if (rules.base && !rules.base->files.empty()) main_ = rules.base->files.front().name;
  }

  ParsedReply read() {
    reply_.change = stated_change(scan_.prose);
    take();
    if (reply_.status == ReplyStatus::kOk && !reply_.remarks.empty()) reply_.status = ReplyStatus::kRepaired;
    reply_.followed_advice = stated_followed(scan_.prose);
    return std::move(reply_);
  }

 private:
  struct Found {
    ReplyBlock block;
    bool has_entry = false;
  };

  void no(ReplyStatus status, std::string reason) {
    reply_.status = status;
    reply_.program = std::unexpected(NoProgram{std::move(reason)});
  }

  bool has_entry(std::string_view code) const {
    return rules_.entries.empty() || std::ranges::any_of(rules_.entries, [&](const std::string& entry) {
             return calls_or_defines(code, entry);
           });
  }

  void take() {
    if (scan_.too_many)
      return no(ReplyStatus::kNoCode,
                fmt::format("The reply has more than {} fenced blocks. {}", kMostBlocks, kForm));
    sort_blocks();
    if (outside_)
      return no(
          ReplyStatus::kNoCode,
          fmt::format(
              "A file name in the reply points outside the program's folder. Use plain names such as {}.",
              main_));
    if (rules_.truncated && !scan_.blocks.empty() && !scan_.blocks.back().closed)
      return no(ReplyStatus::kTruncated,
                "The reply reached its length limit inside a code block. Send a shorter program, or fewer "
                "words before it.");
    if (files_.empty() && edits_.empty() && (saw_diff_ || !take_bare_code()))
      return no(
          ReplyStatus::kNoCode,
          saw_diff_ ? fmt::format("The reply is a diff, which is not applied. {}", kForm) : no_code_reason());
    Candidate program;
    if (!assemble(program)) return;
    check(program);
    if (reply_.status == ReplyStatus::kOk) reply_.program = std::move(program);
  }

  // Blocks by file: the last complete one of a name that has the entry function, else the last complete one.
  void sort_blocks() {
    for (const ReplyBlock& block : scan_.blocks) {
      if (trimmed(block.content).empty()) continue;
      std::string name = name_of_block(block, rules_.extensions, outside_);
      if (outside_) return;
      if (name == "task.h") continue;  // KForge makes that one
      std::string tag = tag_of_block(block);
      if (has_edits(block.content)) {
        edits_[name.empty() ? main_ : name] += std::string(block.content);
        continue;
      }
      if (is_diff(tag, block.content)) {
        saw_diff_ = true;
        continue;
      }
      Found found{block, has_entry(block.content)};
      if (name.empty()) {
        bool usable =
            found.has_entry && (rules_.extensions.empty() || tag_fits(tag, rules_.extensions.front()));
        if (usable) offer(unnamed_, found);
        if (found.has_entry && (!fallback_ || block.content.size() > fallback_->block.content.size()))
          fallback_ = found;
      } else {
        named_.contains(name) ? offer(named_[name], found) : void(named_[name] = found);
      }
    }
    choose_files();
    // Edits written without any fence around them.
    if (files_.empty() && edits_.empty() && has_edits(text_)) edits_[main_] = std::string(text_);
  }

  void offer(std::optional<Found>& slot, const Found& found) {
    if (slot) drafts_ = true;
    bool better =
        !slot || (found.has_entry >= slot->has_entry && (found.block.closed || !slot->block.closed));
    if (better) slot = found;
  }

  void choose_files() {
    bool named_entry = std::ranges::any_of(named_, [](const auto& file) { return file.second->has_entry; });
    for (const auto& [name, found] : named_) files_[name] = found->block;
    if (!named_entry && (unnamed_ || fallback_) && !edits_.contains(main_))
      files_[main_] = (unnamed_ ? unnamed_ : fallback_)->block;
    if (drafts_) reply_.remarks.push_back("several versions of a file: the last complete one was taken");
    for (const auto& [name, block] : files_)
      if (!block.closed)
        reply_.remarks.push_back(
            fmt::format("the fence of {}, opened in line {} of the reply, was never closed: what follows it "
                        "was taken as part of the file",
                        name, fence_line(block)));
  }

  // Of the opening fence, counted in what was answered.
  long fence_line(const ReplyBlock& block) const {
    return std::count(text_.data(), block.content.data(), '\n');
  }

  std::string unclosed_fence() const {
    for (const ReplyBlock& block : scan_.blocks)
      if (!block.closed)
        return fmt::format(" The fence opened in line {} (`{}`) was never closed.", fence_line(block),
                           single_line(block.info, 60));
    return "";
  }

  bool take_bare_code() {
    std::string_view code = trimmed(text_);
    bool starts = false;
    for (std::string_view opening :
         {"#include", "//", "/*", "extern \"C\"", "#pragma", "__kernel", "namespace"})
      starts |= code.starts_with(opening);
    if (!starts || rules_.entries.empty() || !has_entry(code)) return false;
    files_[main_] = ReplyBlock{.content = code};
    reply_.remarks.push_back("the program came without a fence");
    return true;
  }

  std::string no_code_reason() const {
    if (scan_.blocks.empty()) return fmt::format("The reply has no fenced block with a program. {}", kForm);
    if (rules_.entries.empty())
      return fmt::format("No fenced block of the reply is a source file of this platform.{} {}",
                         unclosed_fence(), kForm);
    return fmt::format("No fenced block of the reply defines the function {}.{} {}", rules_.entries.front(),
                       unclosed_fence(), kForm);
  }

  const SourceFile* base_file(std::string_view name) const {
    if (!rules_.base) return nullptr;
    auto file = std::ranges::find(rules_.base->files, name, &SourceFile::name);
    return file == rules_.base->files.end() ? nullptr : &*file;
  }

  bool assemble(Candidate& program) {
    std::size_t bytes = 0;
    for (const auto& [name, block] : files_) {
      if ((bytes += block.content.size()) > kMaxSourceBytes) break;
      program.files.push_back({name, std::string(block.content)});
    }
    for (const auto& [name, edits] : edits_) {
      if (files_.contains(name)) continue;  // sent whole as well
      const SourceFile* base = base_file(name);
      if (!base)
        return no(ReplyStatus::kEditMismatch,
                  fmt::format("There are edits for {}, but no such file to change. {}", name, kForm)),
               false;
      auto parsed = parse_edits(edits);
      auto edited = parsed ? apply_edits(base->content, *parsed)
                           : std::unexpected("The edits are not well formed: " + parsed.error());
      if (!edited)
        return no(ReplyStatus::kEditMismatch,
                  fmt::format("{}\nNo edit was applied. Send corrected edits, or the whole file.",
                              edited.error())),
               false;
      bytes += edited->size();
      program.files.push_back({name, std::move(*edited)});
    }
    if (bytes > kMaxSourceBytes)
      return no(ReplyStatus::kNoCode,
                fmt::format("The program has more than {} MiB of source.", kMaxSourceBytes >> 20)),
             false;
    keep_headers(program);
    put_main_first(program);
    for (SourceFile& file : program.files)
      if (undo_entities(file.content))
        reply_.remarks.push_back(fmt::format("HTML entities in {} were turned into characters", file.name));
    return true;
  }

  // Files of the program before that the new one still includes and did not send again.
  void keep_headers(Candidate& program) {
    if (!rules_.base) return;
    for (const SourceFile& file : rules_.base->files) {
      bool sent =
          std::ranges::any_of(program.files, [&](const SourceFile& f) { return f.name == file.name; });
      std::string include = fmt::format("#include \"{}\"", file.name);
      bool edited_only = files_.empty();
      bool included = std::ranges::any_of(
          program.files, [&](const SourceFile& f) { return f.content.find(include) != std::string::npos; });
      if (sent || (!included && !edited_only)) continue;
      program.files.push_back(file);
      if (!edited_only)
        reply_.remarks.push_back(fmt::format("{} was kept from the program before", file.name));
    }
  }

  void put_main_first(Candidate& program) {
    auto is_main = [&](const SourceFile& file) {
      return file.name.starts_with("kernel.") && file.name.find('/') == std::string::npos;
    };
    auto main = std::ranges::find_if(program.files, is_main);
    if (main == program.files.end())
      main = std::ranges::find_if(program.files, [&](const SourceFile& f) { return has_entry(f.content); });
    if (main != program.files.end()) std::rotate(program.files.begin(), main, main + 1);
  }

  void check(const Candidate& program) {
    if (program.files.size() > kMaxSourceFiles)
      return no(ReplyStatus::kNoCode, fmt::format("The reply has more than {} files.", kMaxSourceFiles));
    if (std::ranges::none_of(program.files, [&](const SourceFile& f) { return has_entry(f.content); }))
      return no(ReplyStatus::kNoCode, no_code_reason());
    for (const SourceFile& file : program.files)
      if (auto line = elided_line(file.content))
        return no(ReplyStatus::kElided,
                  fmt::format("{} leaves parts out (line {}: `{}`). Every file must be complete: "
                              "what is left out does not exist.",
                              file.name, line->number, single_line(line->text, 80)));
    std::string mine = squeezed(program);
    for (const auto& [known, attempt] : rules_.known)
      if (known && !known->files.empty() && squeezed(*known) == mine)
        return no(
            ReplyStatus::kUnchanged,
            fmt::format("This is the program of attempt {}, unchanged: it was judged before. Send one that "
                        "differs.",
                        attempt));
  }

  std::string_view text_;
  const ReplyRules& rules_;
  ReplyScan scan_;
  ParsedReply reply_;
  std::string main_;
  std::map<std::string, std::optional<Found>> named_;
  std::optional<Found> unnamed_, fallback_;
  std::map<std::string, ReplyBlock> files_;
  std::map<std::string, std::string> edits_;
  bool outside_ = false, saw_diff_ = false, drafts_ = false;
};

}  // namespace

ParsedReply parse_reply(std::string_view reply, const ReplyRules& rules) {
  if (reply.size() > kMostReplyBytes) {
    ParsedReply refused;
    refused.status = ReplyStatus::kNoCode;
    refused.program =
        std::unexpected(NoProgram{fmt::format("The reply has {} bytes: a program may have {} MiB. {}",
                                              reply.size(), kMaxSourceBytes >> 20, kForm)});
    return refused;
  }
  std::string text = clean_text(reply);
  return Reader(after_thinking(text), rules).read();
}

}  // namespace kforge

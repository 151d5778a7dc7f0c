#include "report/page_template.h"

#include <kainjow/mustache.hpp>
#include <set>

#include "base/files.h"
#include "base/hash.h"
#include "llm/text_safety.h"

namespace kforge {
namespace {

namespace mustache = kainjow::mustache;

constexpr std::size_t kPageFileBytes = 1 << 20;

Result<std::string> page_file(const std::string& name) {
  KF_TRY(fs::path root, data_root());
  auto text = read_file(root / "pages" / name, kPageFileBytes);
  if (!text)
    return fail_with_remedy("the folder pages/ belongs to KForge; KFORGE_DATA names where it lies",
                            text.error().message);
  return text;
}

std::vector<std::string> names_of_partials(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find("{{>"); at != text.npos; at = text.find("{{>", at + 3)) {
    std::string_view rest = text.substr(at + 3);
    names.emplace_back(trimmed(rest.substr(0, rest.find("}}"))));
  }
  return names;
}

// Every file that a page is made of, each read once.
Result<void> read_partials(const std::string& text, std::map<std::string, std::string>& files) {
  for (const std::string& name : names_of_partials(text)) {
    if (files.contains(name)) continue;
    KF_TRY(files[name], page_file(name + ".mustache"));
    KF_TRY_VOID(read_partials(files[name], files));
  }
  return {};
}

mustache::data mustache_data(const PageData& data) {
  mustache::data object(mustache::data::type::object);
  for (const auto& [name, value] : data.values()) {
    if (const auto* text = std::get_if<std::string>(&value)) {
      object.set(name,
                 text->empty() ? mustache::data(mustache::data::type::bool_false) : mustache::data(*text));
      continue;
    }
    mustache::data list(mustache::data::type::list);
    for (const PageData& row : std::get<std::vector<PageData>>(value)) list.push_back(mustache_data(row));
    object.set(name, list);
  }
  return object;
}

std::string bytes_of_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(at, 2)), nullptr, 16));
  return bytes;
}

}  // namespace

PageData& PageData::markup(const std::string& name, Markup value) {
  values_[name] = std::move(value.text);
  return *this;
}

PageData& PageData::row(const std::string& name, PageData row) {
  rows(name);
  std::get<std::vector<PageData>>(values_[name]).push_back(std::move(row));
  return *this;
}

PageData& PageData::rows(const std::string& name) {
  if (Value& value = values_[name]; !std::holds_alternative<std::vector<PageData>>(value))
    value = std::vector<PageData>();
  return *this;
}

Result<std::string> render_page(std::string_view name, const PageData& data) {
  KF_TRY(std::string text, page_file(std::string(name) + ".mustache"));
  KF_TRY(std::string style, page_file("style.css"));
  mustache::data all = mustache_data(data);
  all.set("style", style);
  all.set("policy",
          fmt::format(
              "default-src 'none'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
              base64(bytes_of_hex(sha256_hex(style)))));
  std::map<std::string, std::string> files;
  KF_TRY_VOID(read_partials(text, files));
  for (const auto& [partial, content] : files) {
    if (data.values().contains(partial))
      return fail("pages/{}.mustache: {} is the name of a file and of a value", name, partial);
    all.set(partial, mustache::data(mustache::partial([&content] { return content; })));
  }
  mustache::mustache page(text);
  page.set_custom_escape([](const std::string& s) { return s; });
  if (!page.is_valid()) return fail("pages/{}.mustache: {}", name, page.error_message());
  std::string rendered = page.render(all);
  if (!page.is_valid()) return fail("pages/{}.mustache: {}", name, page.error_message());
  return rendered;
}

}  // namespace kforge

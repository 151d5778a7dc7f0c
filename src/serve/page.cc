#include "serve/page.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "serve/guard.h"

namespace kforge::serve {
namespace {

struct Section {
  const char* name;
  bool starts = false;  // not where nothing can be started
};
constexpr Section kSections[] = {{"runs"},   {"results"},  {"suites"},  {"tasks"},       {"platforms"},
                                 {"models"}, {"machines"}, {"compare"}, {"start", true}, {"jobs", true}};

}  // namespace

void add_frame(PageData& data, const Asked& asked, std::string_view title, std::string_view section) {
  data.text("title", title).rows("sections");
  for (const Section& one : kSections)
    if (!one.starts || !asked.read_only)
      data.row("sections", PageData()
                               .text("section", one.name)
                               .text("address", std::string("/") + one.name)
                               .text("here", section == one.name ? "yes" : ""));
  const bool may_change = asked.knows_token && !asked.read_only;
  data.text("csrf", may_change ? asked.csrf : "").text("may_change", may_change ? "yes" : "");
  data.text("read_only", asked.read_only ? "yes" : "");
  data.text("twin", asked.path == "/" ? "/index.json" : asked.path + ".json");
}

Answer page(const Asked& asked, const std::string& name, const PageData& data) {
  auto html = render_page("serve/" + name, data);
  if (!html) return refusal(asked, 500, html.error().message, html.error().remedy);
  return {.body = std::move(*html)};
}

Answer json_answer(std::string document) {
  return {.type = "application/json", .body = std::move(document) + "\n"};
}

Answer json_answer(const nlohmann::ordered_json& document) {
  return json_answer(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

Answer not_found(const Asked& asked, const Error& error) {
  return refusal(asked, 404, error.message, error.remedy);
}

Answer go_to(const std::string& address) { return {.status = 303, .headers = {{"Location", address}}}; }

std::string address_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '_' || c == '.' || c == '~' || c == '/';
    word += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return word;
}

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= 12 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); });
}

std::size_t number_of(std::string_view text, std::size_t otherwise, std::size_t most) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) return otherwise;
  return std::min(number, most);
}

}  // namespace kforge::serve

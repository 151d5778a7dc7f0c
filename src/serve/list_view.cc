#include "serve/list_view.h"

#include <algorithm>

#include "base/text.h"
#include "report/page_room.h"
#include "serve/page.h"

namespace kforge::serve {
namespace {

constexpr std::size_t kMostRows = 200, kMostRecords = 1000, kMostPages = 1'000'000;

// The address of this list with one of its settings changed.
std::string address_with(const Asked& asked, const std::map<std::string, std::string>& changed) {
  std::map<std::string, std::string> settings = asked.query;
  for (const auto& [name, value] : changed) settings[name] = value;
  std::string address = asked.path, between = "?";
  for (const auto& [name, value] : settings) {
    if (value.empty()) continue;
    address += between + address_word(name) + "=" + address_word(value);
    between = "&";
  }
  return address;
}

bool fits(const Row& row, const std::string& search) {
  return std::ranges::any_of(
      row.cells, [&](const Cell& cell) { return lower_case(cell.text).find(search) != std::string::npos; });
}

bool before(const Cell& a, const Cell& b) {
  if (a.order && b.order) return *a.order < *b.order;
  return a.text < b.text;
}

// What the store does for long lists, for those it does not keep.
void arrange(ListView& view, const ListAsked& wanted) {
  if (!wanted.search.empty())
    std::erase_if(view.rows,
                  [search = lower_case(wanted.search)](const Row& row) { return !fits(row, search); });
  for (std::size_t i = 0; i < view.columns.size(); ++i) {
    if (wanted.sort.empty() || view.columns[i].sort != wanted.sort) continue;
    std::ranges::stable_sort(view.rows, [&](const Row& a, const Row& b) {
      const bool a_empty = a.cells[i].text.empty(), b_empty = b.cells[i].text.empty();
      if (a_empty || b_empty) return !a_empty && b_empty;
      return wanted.ascending ? before(a.cells[i], b.cells[i]) : before(b.cells[i], a.cells[i]);
    });
  }
  view.total = view.rows.size();
  if (wanted.offset >= view.rows.size()) view.rows.clear();
  if (!view.rows.empty())
    view.rows.erase(view.rows.begin(), view.rows.begin() + static_cast<std::ptrdiff_t>(wanted.offset));
  if (view.rows.size() > wanted.size) view.rows.resize(wanted.size);
}

Answer twin(const ListView& view, const ListAsked& wanted) {
  Json list = Json::array();
  for (const Row& row : view.rows) list.push_back(row.record);
  Json document{{"schema", view.schema}};
  document.update(view.more);
  document["total"] = view.total;
  document["page"] = wanted.page;
  document["page_size"] = wanted.size;
  document[view.records] = std::move(list);
  return json_answer(document);
}

void add_heading(PageData& data, const Asked& asked, const ListView& view, const ListAsked& wanted) {
  data.rows("heading");
  for (const Column& column : view.columns) {
    const bool here = !column.sort.empty() && column.sort == wanted.sort;
    const bool rising = here ? !wanted.ascending : !column.falling;
    data.row("heading", PageData()
                            .text("column", column.name)
                            .text("kind", column.number ? "number" : "")
                            .text("sorted", !here              ? ""
                                            : wanted.ascending ? "ascending"
                                                               : "descending")
                            .text("arrow", !here              ? ""
                                           : wanted.ascending ? "\u25b2"
                                                              : "\u25bc")
                            .text("address", column.sort.empty()
                                                 ? ""
                                                 : address_with(asked, {{"sort", column.sort},
                                                                        {"order", rising ? "up" : "down"},
                                                                        {"page", ""}})));
  }
}

// Only what is long is broken into lines: ids and dates stay whole.
std::string kind_of(const Column& column, const Cell& cell) {
  constexpr std::size_t kShort = 26;
  return (column.number ? "number " : cell.text.size() <= kShort ? "short " : "free ") + cell.kind;
}

void add_rows(PageData& data, const ListView& view) {
  data.rows("lines");
  for (const Row& row : view.rows) {
    PageData line;
    line.rows("cells").text("choose", view.may_compare ? row.cells[0].text : "");
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const Cell& cell = row.cells[i];
      line.row("cells", PageData()
                            .text("cell", short_line(cell.text, 200))
                            .text("link", cell.link)
                            .text("column", view.columns[i].name)
                            .text("kind", kind_of(view.columns[i], cell)));
    }
    data.row("lines", std::move(line));
  }
}

void add_filters(PageData& data, const Asked& asked, const ListView& view, const ListAsked& wanted) {
  data.text("search", wanted.search).rows("choices").rows("kept");
  for (const Choice& choice : view.choices) {
    PageData one;
    one.text("choice", choice.name).text("label", choice.label).rows("words");
    const std::string chosen = asked.asked(choice.name);
    std::vector<std::string> words = choice.words;
    if (!chosen.empty() && std::ranges::find(words, chosen) == words.end()) words.push_back(chosen);
    for (const std::string& word : words)
      one.row("words", PageData().text("word", word).text("chosen", word == chosen ? "yes" : ""));
    data.row("choices", std::move(one));
  }
  for (const char* name : {"sort", "order", "size"})
    if (const std::string value = asked.asked(name); !value.empty())
      data.row("kept", PageData().text("name", name).text("value", value));
}

void add_pager(PageData& data, const Asked& asked, const ListView& view, const ListAsked& wanted) {
  const std::size_t pages = (view.total + wanted.size - 1) / wanted.size;
  const std::size_t first = view.rows.empty() ? 0 : wanted.offset + 1;
  data.text("span", view.total == 0 ? "none"
                                    : fmt::format("{} to {} of {}", first,
                                                  first + view.rows.size() - (first > 0), view.total));
  data.text("before",
            wanted.page > 1 ? address_with(asked, {{"page", std::to_string(wanted.page - 1)}}) : "");
  data.text("after",
            wanted.page < pages ? address_with(asked, {{"page", std::to_string(wanted.page + 1)}}) : "");
}

}  // namespace

ListAsked list_asked(const Asked& asked) {
  ListAsked wanted;
  wanted.search = asked.asked("q").substr(0, 200);
  wanted.sort = asked.asked("sort");
  wanted.ascending = asked.asked("order") == "up";
  wanted.page = number_of(asked.asked("page"), 1, kMostPages);
  wanted.size = number_of(asked.asked("size"), kPageRows, asked.json ? kMostRecords : kMostRows);
  wanted.offset = (wanted.page - 1) * wanted.size;
  return wanted;
}

Answer list_page(const Asked& asked, ListView view) {
  const ListAsked wanted = list_asked(asked);
  if (!view.arranged) arrange(view, wanted);
  if (asked.json) return twin(view, wanted);
  PageData data;
  add_frame(data, asked, view.title, view.section);
  data.text("about", view.about).text("path", asked.path).text("empty", view.rows.empty() ? view.empty : "");
  data.text("any", view.rows.empty() ? "" : "yes").text("may_compare", view.may_compare ? "yes" : "");
  data.text("twin", address_with(asked, {}).replace(0, asked.path.size(), asked.path + ".json"));
  add_filters(data, asked, view, wanted);
  add_heading(data, asked, view, wanted);
  add_rows(data, view);
  add_pager(data, asked, view, wanted);
  return page(asked, "list", data);
}

}  // namespace kforge::serve

// One list of the site: a table with search, filters, sorting and pages; its twin has the same records.
// Filters, order and page are in the address, so a list can be kept as a bookmark and works without
// JavaScript.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "serve/asked.h"

namespace kforge::serve {

using Json = nlohmann::ordered_json;

struct Cell {
  std::string text;
  std::string link = {};             // "": none
  std::string kind = {};             // "number", "passed", "failed-word", ...: a class of the style sheet
  std::optional<double> order = {};  // what sorting goes by, where that is not the text
};

struct Column {
  std::string name;
  std::string sort = {};  // word of the address; "": cannot be sorted by
  bool number = false;
  bool falling = false;  // the first click gives the largest
};

// A filter with a list of words to choose from.
struct Choice {
  std::string name, label;
  std::vector<std::string> words;
};

struct Row {
  std::vector<Cell> cells;
  Json record;  // in the twin
};

struct ListView {
  std::string section, title, about;
  std::string schema;   // of the twin: "kforge.results/1"
  std::string records;  // its list: "results"
  std::vector<Column> columns;
  std::vector<Choice> choices;
  std::vector<Row> rows;
  std::string empty;           // what to do where there is none
  std::size_t total = 0;       // on all pages; where `arranged`
  bool arranged = false;       // the store has filtered, sorted and cut already
  bool may_compare = false;    // the first column holds ids that can be chosen for a comparison
  Json more = Json::object();  // further fields of the twin
};

// What the address asks for.
struct ListAsked {
  std::string search, sort;
  bool ascending = false;
  std::size_t page = 1, size = 0, offset = 0;
};
inline constexpr std::size_t kPageRows = 100;
ListAsked list_asked(const Asked& asked);

Answer list_page(const Asked& asked, ListView view);

}  // namespace kforge::serve

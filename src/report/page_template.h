// Pages are Mustache files in pages/, filled in here. Escaping is no business of the files: a text is escaped
// when it is put in, and only Markup goes in as it stands, so no template can forget it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "plot/markup.h"

namespace kforge {

class PageData {
 public:
  // An empty one is false for {{#name}}.
  PageData& text(const std::string& name, std::string_view value) { return markup(name, markup_of(value)); }
  PageData& markup(const std::string& name, Markup value);
  // One more repetition of the section {{#name}}. Rows see the names around them where they have none of
  // their own: give every row every name.
  PageData& row(const std::string& name, PageData row);
  // A section that may have no rows.
  PageData& rows(const std::string& name);

  using Value = std::variant<std::string, std::vector<PageData>>;
  const std::map<std::string, Value>& values() const { return values_; }

 private:
  std::map<std::string, Value> values_;
};

// `name` is a file in data_root()/pages without ".mustache"; {{> other}} reads another one, {{style}} and
// {{policy}} are there for all: the style sheet, and a content security policy that allows that sheet,
// pictures within the page, and nothing else. An Error names the file and what is wrong with it.
Result<std::string> render_page(std::string_view name, const PageData& data);

}  // namespace kforge

// What the pages of the site have in common: the frame around each, and answers as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "report/page_template.h"
#include "serve/asked.h"

namespace kforge::serve {

// What every page is told beside its own matter: `section` is the word of the menu it belongs to ("runs"), or
// none.
void add_frame(PageData& data, const Asked& asked, std::string_view title, std::string_view section);

// pages/serve/NAME.mustache, filled in.
Answer page(const Asked& asked, const std::string& name, const PageData& data);
Answer json_answer(const nlohmann::ordered_json& document);
// A document that is text already.
Answer json_answer(std::string document);
// The answer to what cannot be found or read: 404 with the Error's words.
Answer not_found(const Asked& asked, const Error& error);
// Elsewhere, after a form was sent.
Answer go_to(const std::string& address);

// An address with characters that mean something in one written as numbers.
std::string address_word(std::string_view text);
// Letters and digits of ids in the store, or a prefix of one: nothing that a path or a question could be made
// of.
bool is_id(std::string_view text);
// A number of a list of choices or pages; `otherwise` where the text is none.
std::size_t number_of(std::string_view text, std::size_t otherwise, std::size_t most);

}  // namespace kforge::serve

#include "serve/own_documents.h"

#include "base/clock.h"
#include "base/text.h"

namespace kforge::serve {

Result<Json> OwnDocuments::get(const std::vector<std::string>& arguments, double seconds) {
  constexpr double kLongest = 60;
  std::shared_ptr<Kept> one;
  {
    std::lock_guard lock(mutex_);
    if (kept_.size() > kMost) kept_.clear();
    std::shared_ptr<Kept>& place = kept_[arguments];
    if (!place) place = std::make_shared<Kept>();
    one = place;
  }
  std::lock_guard alone(one->asking);
  if (!one->document.is_null() && seconds_since(one->at) < seconds) return one->document;
  std::vector<std::string> words = arguments;
  words.emplace_back("--json");
  KF_TRY(auto answer, program_.run(std::move(words), {}, kLongest));
  if (answer.document.is_null()) return fail("{}", trimmed(answer.out));
  if (answer.document.value("schema", "") == "kforge.error/1")
    return fail_with_remedy(answer.document.value("remedy", ""), answer.document["error"].get<std::string>());
  one->document = Json::parse(answer.out, nullptr, false);
  one->at = std::chrono::steady_clock::now();
  return one->document;
}

}  // namespace kforge::serve

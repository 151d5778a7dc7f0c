// Who may ask for what: names, origins, tokens, forms.
#include "serve/guard.h"

#include <gtest/gtest.h>

namespace kforge::serve {
namespace {

constexpr const char* kToken = "0123456789abcdef0123456789abcdef";

Guard guard(std::string address = "127.0.0.1", bool read_only = false) {
  return Guard({std::move(address), 8765, read_only, kToken});
}

Asked asked(std::map<std::string, std::string> headers, std::string method = "GET") {
  Asked asked{.method = std::move(method), .path = "/runs", .headers = std::move(headers)};
  asked.headers.emplace("host", "127.0.0.1:8765");
  return asked;
}

int refused(const Guard& guard, Asked one, Access access = Access::kRead) {
  auto answer = guard.refuse(one, access);
  return answer ? answer->status : 0;
}

TEST(Guard, AnswersOnlyToItsOwnNames) {
  for (const char* host :
       {"127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765", "127.1.2.3:8765"})
    EXPECT_EQ(refused(guard(), asked({{"host", host}})), 0) << host;
  for (const char* host : {"", "evil.example:8765", "127.0.0.1.evil.example:8765",
                           "localhost.evil.example:8765", "127.0.0.1:80", "127.0.0.1", "192.168.1.2:8765",
                           "[::1", "[::1]x:8765", "127.0.0.1:8765:1", "localhost:8765@evil.example"})
    EXPECT_EQ(refused(guard(), asked({{"host", host}})), 421) << host;
}

TEST(Guard, OtherAddressesAnswerToNumbersAndNeedTheTokenForEverything) {
  const Guard open = guard("0.0.0.0");
  EXPECT_EQ(refused(open, asked({{"host", "192.168.1.2:8765"}})), 401);
  EXPECT_EQ(refused(open, asked({{"host", "192.168.1.2:8765"},
                                 {"authorization", std::string("Bearer ") + kToken}})),
            0);
  EXPECT_EQ(refused(open, asked({{"host", "evil.example:8765"},
                                 {"authorization", std::string("Bearer ") + kToken}})),
            421)
      << "a name can be made to point here, whoever knows the token";
}

TEST(Guard, OtherSitesMayNotAsk) {
  EXPECT_EQ(refused(guard(), asked({{"origin", "http://127.0.0.1:8765"}})), 0);
  for (const char* origin :
       {"http://evil.example", "null", "https://127.0.0.1:8765", "http://127.0.0.1:9999"})
    EXPECT_EQ(refused(guard(), asked({{"origin", origin}})), 403) << origin;
  EXPECT_EQ(refused(guard(), asked({{"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "no-cors"}})), 403);
  EXPECT_EQ(refused(guard(), asked({{"sec-fetch-site", "same-site"}, {"sec-fetch-mode", "cors"}})), 403);
  EXPECT_EQ(refused(guard(), asked({{"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}})), 0)
      << "a link from elsewhere may lead here";
}

TEST(Guard, ChangesNeedTheTokenAndFromABrowserTheFormsWord) {
  const std::string cookie = std::string("other=1; kforge_8765=") + kToken;
  EXPECT_EQ(refused(guard(), asked({}, "POST"), Access::kChange), 401);
  EXPECT_EQ(refused(guard(), asked({{"cookie", "kforge_8765=wrong"}}, "POST"), Access::kChange), 401);
  EXPECT_EQ(refused(guard(), asked({{"cookie", "kforge_8765="}}, "POST"), Access::kChange), 401);
  EXPECT_EQ(refused(guard(), asked({{"cookie", cookie}}, "POST"), Access::kChange), 403) << "no word";
  EXPECT_EQ(
      refused(guard(), asked({{"authorization", std::string("Bearer ") + kToken}}, "POST"), Access::kChange),
      0);

  Asked page = asked({{"cookie", cookie}});
  ASSERT_FALSE(guard().refuse(page, Access::kRead));
  ASSERT_FALSE(page.csrf.empty());
  EXPECT_EQ(page.csrf.find(kToken), std::string::npos) << "a page never shows the token";
  Asked form = asked({{"cookie", cookie}}, "POST");
  form.fields["csrf"] = page.csrf;
  EXPECT_EQ(refused(guard(), form, Access::kChange), 0);
  form.fields["csrf"] = "0" + page.csrf.substr(1);
  EXPECT_EQ(refused(guard(), form, Access::kChange), page.csrf[0] == '0' ? 0 : 403);
  form.fields["csrf"] = "";
  EXPECT_EQ(refused(guard(), form, Access::kChange), 403);
}

TEST(Guard, WhoDoesNotKnowTheTokenIsToldNoWordForForms) {
  Asked page = asked({});
  ASSERT_FALSE(guard().refuse(page, Access::kRead));
  EXPECT_EQ(page.csrf, "");
}

TEST(Guard, ReadOnlyChangesNothingForAnybody) {
  EXPECT_EQ(refused(guard("127.0.0.1", true),
                    asked({{"authorization", std::string("Bearer ") + kToken}}, "POST"), Access::kChange),
            403);
}

TEST(Guard, TokensAreLongAndNeverTheSame) {
  EXPECT_EQ(new_token().size(), 32u);
  EXPECT_NE(new_token(), new_token());
}

TEST(Guard, RefusalsEscapeWhatTheySay) {
  Asked one{.method = "GET", .path = "/"};
  EXPECT_EQ(refusal(one, 404, "<script>").body.find("<script>"), std::string::npos);
  one.json = true;
  EXPECT_NE(refusal(one, 404, "x").body.find("kforge.error/1"), std::string::npos);
}

}  // namespace
}  // namespace kforge::serve

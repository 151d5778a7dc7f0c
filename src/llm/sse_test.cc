#include "llm/sse.h"

#include <gtest/gtest.h>

#include <vector>

namespace kforge {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

// The bytes in slices of the given size.
Events parse(std::string_view bytes, std::size_t slice, std::size_t limit = 1000) {
  Events events;
  SseParser parser(limit,
                   [&](std::string_view event, std::string_view data) { events.emplace_back(event, data); });
  for (std::size_t at = 0; at < bytes.size(); at += slice) parser.feed(bytes.substr(at, slice));
  parser.finish();
  return events;
}

TEST(Sse, EveryLineEndInEverySlice) {
  Events expected{{"a", "one\ntwo"}, {"", "three"}, {"", "four"}};
  for (std::string end : {"\n", "\r\n", "\r"}) {
    std::string bytes;
    for (const char* line : {"event: a", "data: one", ": a comment", "data:two", "", ":", "id: 7",
                             "data: three", "", "", "retry: 3", "data: four"})
      bytes += line + end;
    for (std::size_t slice : {1u, 2u, 3u, 7u, 1000u}) EXPECT_EQ(parse(bytes, slice), expected) << slice;
  }
}

TEST(Sse, AnEventWithoutDataIsNone) { EXPECT_TRUE(parse("event: ping\n\n: x\n\n\n", 5).empty()); }

TEST(Sse, OnlyOneBlankIsTakenAway) { EXPECT_EQ(parse("data:  x\n\n", 4), (Events{{"", " x"}})); }

TEST(Sse, AByteOrderMarkIsIgnored) {
  EXPECT_EQ(parse("\xEF\xBB\xBF"
                  "data: x\n\n",
                  2),
            (Events{{"", "x"}}));
}

TEST(Sse, AnEventThatIsTooLargeEndsIt) {
  SseParser parser(100, [](std::string_view, std::string_view) { FAIL(); });
  EXPECT_TRUE(parser.feed("data: " + std::string(90, 'x')));
  EXPECT_FALSE(parser.feed("xxxxxxxxxxxx"));
  EXPECT_FALSE(parser.feed("\n\n"));
  parser.finish();
  // Also when it comes in many short lines.
  SseParser lines(100, [](std::string_view, std::string_view) { FAIL(); });
  for (int i = 0; i < 40; ++i) lines.feed("data: yyyy\n");
  EXPECT_FALSE(lines.feed("data: y\n"));
}

}  // namespace
}  // namespace kforge

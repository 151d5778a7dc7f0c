// One drawing as SVG text. Colours and fonts come from the page's style sheet by class (pages/style.css), so
// that a drawing follows light and dark; its size is in the page's pixels, so that its letters are as large
// as the page's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plot/markup.h"

namespace kforge {

// What a mark stands for; the style sheet gives each a colour.
enum class Tone : std::uint8_t { kPlain, kBest, kGood, kBad, kFaint, kWarn, kSecond, kThird };
std::string_view name_of(Tone tone);  // "best"

enum class Anchor : std::uint8_t { kStart, kMiddle, kEnd };

class Svg {
 public:
  // `title` is what somebody who does not see the drawing is told.
  Svg(double width, std::string_view title) : width_(width), title_(title) {}

  void line(double x1, double y1, double x2, double y2, std::string_view role, Tone tone = Tone::kPlain);
  // `tip` is shown when the mark is pointed at.
  void rect(double x, double y, double width, double height, std::string_view role, Tone tone,
            std::string_view tip = {});
  void circle(double x, double y, double radius, std::string_view role, Tone tone, std::string_view tip = {});
  void path(std::string_view commands, std::string_view role, Tone tone);
  void text(double x, double y, Anchor anchor, std::string_view role, std::string_view content,
            std::string_view tip = {});

  double width() const { return width_; }
  Markup finish(double height) const;

 private:
  void open(std::string_view element, std::string_view role, Tone tone);
  void close(std::string_view element, std::string_view tip);

  double width_;
  std::string title_, body_;
};

// "12.5": at most two decimals, the same on every machine.
std::string svg_number(double value);
inline constexpr double kLetter = 6.4;  // width of a character in the drawings' font, on average
inline constexpr double kRow = 18;      // height of a line of text
// What of `text` fits into `pixels`.
std::string fitting(std::string_view text, double pixels);
double pixels_of(std::string_view text);

}  // namespace kforge

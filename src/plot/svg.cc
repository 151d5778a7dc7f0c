#include "plot/svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kforge {

std::string_view name_of(Tone tone) {
  constexpr std::array<std::string_view, 8> kNames = {"plain", "best", "good",   "bad",
                                                      "faint", "warn", "second", "third"};
  return kNames[static_cast<std::size_t>(tone)];
}

std::string svg_number(double value) {
  if (!std::isfinite(value)) value = 0;
  const double rounded = std::round(std::clamp(value, -1e6, 1e6) * 100) / 100;
  return fmt::format("{}", rounded == 0 ? 0.0 : rounded);  // no "-0"
}

double pixels_of(std::string_view text) { return kLetter * static_cast<double>(characters_in(text)); }

std::string fitting(std::string_view text, double pixels) {
  return shortened(text, static_cast<std::size_t>(std::max(0.0, pixels / kLetter)));
}

void Svg::open(std::string_view element, std::string_view role, Tone tone) {
  body_ += fmt::format("<{} class=\"{}", element, role);
  if (tone != Tone::kPlain) body_ += fmt::format(" {}", name_of(tone));
  body_ += "\"";
}

void Svg::close(std::string_view element, std::string_view tip) {
  if (tip.empty())
    body_ += "/>\n";
  else
    body_ += fmt::format("><title>{}</title></{}>\n", escaped(tip), element);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view role, Tone tone) {
  open("line", role, tone);
  body_ += fmt::format(" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", svg_number(x1), svg_number(y1),
                       svg_number(x2), svg_number(y2));
  close("line", {});
}

void Svg::rect(double x, double y, double width, double height, std::string_view role, Tone tone,
               std::string_view tip) {
  open("rect", role, tone);
  body_ += fmt::format(" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", svg_number(x), svg_number(y),
                       svg_number(std::max(width, 0.0)), svg_number(std::max(height, 0.0)));
  close("rect", tip);
}

void Svg::circle(double x, double y, double radius, std::string_view role, Tone tone, std::string_view tip) {
  open("circle", role, tone);
  body_ += fmt::format(" cx=\"{}\" cy=\"{}\" r=\"{}\"", svg_number(x), svg_number(y), svg_number(radius));
  close("circle", tip);
}

void Svg::path(std::string_view commands, std::string_view role, Tone tone) {
  if (commands.empty()) return;
  open("path", role, tone);
  body_ += fmt::format(" d=\"{}\"", commands);
  close("path", {});
}

void Svg::text(double x, double y, Anchor anchor, std::string_view role, std::string_view content,
               std::string_view tip) {
  if (content.empty()) return;
  open("text", role, Tone::kPlain);
  body_ += fmt::format(" x=\"{}\" y=\"{}\"", svg_number(x), svg_number(y));
  if (anchor != Anchor::kStart)
    body_ += fmt::format(" text-anchor=\"{}\"", anchor == Anchor::kMiddle ? "middle" : "end");
  body_ += ">";
  if (!tip.empty() && tip != content) body_ += fmt::format("<title>{}</title>", escaped(tip));
  body_ += escaped(content) + "</text>\n";
}

Markup Svg::finish(double height) const {
  return {fmt::format("<svg class=\"plot\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
                      "width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n",
                      svg_number(width_), svg_number(height), escaped(title_)) +
          body_ + "</svg>\n"};
}

}  // namespace kforge

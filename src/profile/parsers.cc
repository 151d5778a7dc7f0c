#include "profile/parsers.h"

#include <utility>

namespace kforge {
namespace {

constexpr std::pair<std::string_view, Parser> kParsers[] = {
    {"roofline", parse_roofline},
    {"samples", parse_samples},
    {"hot_loop", parse_hot_loop},
    {"mca", parse_mca},
    {"remarks", parse_remarks},
    {"perf_stat", parse_perf_stat},
    {"callgrind", parse_callgrind},
    {"png", parse_png},
    {"text", parse_text},
    {"facts", parse_facts},
    {"ncu", parse_ncu},
    {"nsys", parse_nsys},
    {"rocprof", parse_rocprof},
    {"emulator", parse_emulator},
    {"ptxas", parse_ptxas_log},
};

}  // namespace

Parser find_parser(std::string_view name) {
  for (const auto& [known, parser] : kParsers)
    if (known == name) return parser;
  return nullptr;
}

std::vector<std::string> parser_names() {
  std::vector<std::string> names;
  for (const auto& [name, parser] : kParsers) names.emplace_back(name);
  return names;
}

}  // namespace kforge

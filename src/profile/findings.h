// What profilers found so far: the profile itself, and what later profilers of the same program build on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "profile/profile_candidate.h"

namespace kforge {

struct Findings {
  const ProfileInput* input = nullptr;
  Profile profile;
  std::map<std::uint64_t, std::uint32_t> samples;     // by offset in the artefact
  std::string hot_loop_assembly;                      // for llvm-mca; empty: not found
  std::map<std::string, std::vector<int>> hot_lines;  // source lines of the hot loop, by file

  void fact(std::string_view name, double value, std::string_view unit, std::string_view source) {
    profile.facts.push_back({std::string(name), value, std::string(unit), std::string(source)});
  }
};

// What one profiler said. All of it is untrusted: the program it is about may have written it.
struct Said {
  std::string profiler;           // its name: the source of facts
  std::string out, err, product;  // standard output, standard error, the file it wrote
};

// Reads it into the findings; false, with a line in Profile::absent, when there was nothing to be read.
using Parser = bool (*)(const Said& said, Findings& findings);

// The parsers by the name platform.toml uses; nullptr for a name that is none. parsers.cc is the table.
Parser find_parser(std::string_view name);
std::vector<std::string> parser_names();

}  // namespace kforge

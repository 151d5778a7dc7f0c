// What bench_smith keeps of each task, and the tables made of it. A row is one line of a JSON file, so that a
// sweep of hours can be broken off, gone on with and read by other programs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kforge::bench {

struct SmithRow {
  std::string task;       // "core/softmax"
  std::string precision;  // policy
  std::string outcome;    // "passed", else what kforge forge said
  std::string reason;     // of anything but "passed"
  std::string created_at, machine, run;
  std::string baseline;  // the fastest one; empty: none was there
  double baseline_ns = 0, ours_ns = 0;
  double ratio = 0, lo = 0, hi = 0;   // ours against the fastest, over 1 is faster
  std::map<std::string, double> all;  // every baseline by name, ns
  std::string bound;                  // of the roofline: "memory", "compute"
  double fraction = 0;                // of it that was reached
  std::string arithmetic;             // "fp32", "bf16x6", ...
  bool algebraic = false;             // does less arithmetic than the graph says
  double spread = 0;                  // (q3 - q1) / median of our samples
  int attempts = 0;
  double seconds = 0;  // of the whole run, preparing and confirming included

  bool passed() const { return outcome == "passed"; }
  bool compared() const { return passed() && ratio > 0; }
};

// "gemm chains", "conv chains", "norms", ...
std::string family_of(std::string_view task);

// From what `kforge forge --json` printed; an Error when that is no report.
Result<SmithRow> row_from_report(std::string_view json);
std::string to_line(const SmithRow& row);
// The newest row of each task in a file of lines; no file is no rows, a line that is cut short is passed
// over.
std::map<std::string, SmithRow> read_rows(const std::string& path, std::string_view precision);

struct FamilyMean {
  std::string family;
  int tasks = 0, failed = 0, slower = 0;  // slower: below 0.95x
  double mean = 0;                        // geometric, of those compared; 0: none
  double fraction = 0;                    // geometric mean of the fractions of the roofline
};
// In a fixed order of families; algebraic rows have one of their own and count in no other.
std::vector<FamilyMean> family_means(const std::vector<SmithRow>& rows);

enum class TableForm { kTerminal, kMarkdown };
std::string print_rows(const std::vector<SmithRow>& rows, TableForm form);
std::string print_means(const std::vector<SmithRow>& rows, TableForm form);
// For each family the three points with the lowest ratios.
std::string print_lowest(const std::vector<SmithRow>& rows, TableForm form);
std::string to_json(const std::vector<SmithRow>& rows);

}  // namespace kforge::bench

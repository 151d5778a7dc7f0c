// The parsers, one file each; see findings.h for what they do.
#pragma once

#include "profile/findings.h"

namespace kforge {

bool parse_roofline(const Said& said,
                    Findings& findings);  // roofline and timing facts, from the verdict alone
bool parse_samples(const Said& said, Findings& findings);    // kforge-call --sample
bool parse_hot_loop(const Said& said, Findings& findings);   // objdump -d -l
bool parse_mca(const Said& said, Findings& findings);        // llvm-mca
bool parse_remarks(const Said& said, Findings& findings);    // the compiler's remarks on loops
bool parse_perf_stat(const Said& said, Findings& findings);  // perf stat, as text or with -x
bool parse_callgrind(const Said& said, Findings& findings);  // a callgrind.out file
bool parse_png(const Said& said, Findings& findings);        // a picture
bool parse_text(const Said& said, Findings& findings);       // anything, shown as it is
bool parse_facts(const Said& said,
                 Findings& findings);                  // "name value unit" lines, or a JSON object of numbers
bool parse_ncu(const Said& said, Findings& findings);  // Nsight Compute, --csv
bool parse_nsys(const Said& said, Findings& findings);       // nsys stats --format csv
bool parse_rocprof(const Said& said, Findings& findings);    // rocprof's results.csv or stats
bool parse_emulator(const Said& said, Findings& findings);   // what KForge's emulator counts; no command
bool parse_ptxas_log(const Said& said, Findings& findings);  // nvcc -Xptxas -v, which it runs itself

}  // namespace kforge

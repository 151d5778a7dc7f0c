// Where an exported kernel comes from and how it was judged, in words and as provenance.json.
#pragma once

#include <string>

#include "export/exportable.h"

namespace kforge {

// "Verified on AMD EPYC under the policy fp32: 1.72x [1.45, 2.01] over onednn."
std::string verdict_sentence(const EvalReport& report);

// `as`: the form ("c"). `name`: of the package. `kernel_folder`: of the program in the export.
std::string provenance_json(const Exportable& exported, const std::string& as, const std::string& name,
                            const std::string& kernel_folder = "src/kernel");

// README.md of the folder; `usage` is the part that differs by form.
std::string export_readme(const Exportable& exported, const std::string& name, const std::string& usage,
                          const std::string& kernel_folder = "src/kernel");

}  // namespace kforge

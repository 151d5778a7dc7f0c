// Every element of the outer loops in a thread of its own.
#include <algorithm>

#include <fmt/format.h>

#include "smith/device/kernel_writer.h"

namespace kforge::smith {

void KernelWriter::write_threads() {
  const std::int64_t items = kernel_.items();
  // 65535 workgroups are what every device allows; threads take several elements beyond that. Those of one
  // thread lie a whole grid apart, so that threads side by side stay so.
  const std::int64_t groups = (items + kernel_.block - 1) / kernel_.block, each = kernel_.choices.items,
                     most = std::min<std::int64_t>((groups + each - 1) / each, 65535);
  grid = {most};
  const std::string group(d_.group[0]);
  const std::string first = fmt::format(
      "{} * {} + {}", index_type_ == "int" ? group : d_.cast(index_type_, group), kernel_.block, d_.lane);
  if (groups > most) {
    open(fmt::format("for ({0} item_ = {1}; item_ < {2}; item_ += {3})", index_type_, first, items,
                     most * kernel_.block));
  } else {
    line(fmt::format("const {} item_ = {};", index_type_, first));
    if (items % kernel_.block != 0) {
      open(fmt::format("if (item_ < {})", items));
    }
  }
  declare_indices(kernel_.outer, "item_");
  if (!kernel_.outer.empty())
    for (const Stmt& s : kernel_.outer) declare_locals(s->locals);
  statements(kernel_.body);
  if (depth_ > 1) close();
}

}  // namespace kforge::smith

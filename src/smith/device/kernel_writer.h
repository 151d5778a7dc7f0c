// The body of one kernel. What a single thread does is written here (kernel_writer.cc); how threads and
// workgroups share the work is in kernel_threads.cc, kernel_rows.cc and kernel_tiles.cc.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "smith/device/device_expr.h"
#include "smith/device/device_schedule.h"

namespace kforge::smith {

class KernelWriter {
 public:
  KernelWriter(const Dialect& dialect, const Nest& nest, const DeviceKernel& kernel,
               std::set<std::string>& used);

  // The statements of the kernel.
  std::string write();

  std::vector<std::int64_t> grid;                // workgroups
  std::vector<std::string> shared_declarations;  // "float scratch_[256]"
  std::int64_t shared_bytes = 0;

 private:
  // Lines of text (kernel_writer.cc).
  void line(const std::string& text);
  void open(const std::string& text);  // ends in "{": what follows is indented
  void close(const std::string& end = "}");
  void lines_of(const DeviceValue& value);
  std::string value_text(const Expr& e);

  // What one thread does.
  void statement(const Stmt& s);
  void statements(const std::vector<Stmt>& list);
  void for_loop(const Stmt& s, const Stmt& start);
  void plain_loop(const Stmt& s);
  void declare_locals(const std::vector<std::string>& names);
  void update(const Stmt& s);
  std::string current(const Stmt& update);
  // Variables of loops from one index that runs over all of their iterations.
  void declare_indices(const std::vector<Stmt>& loops, const std::string& index);
  // Whether `s` stores the neutral element where one of the updates below `loop` begins.
  static bool starts(const Stmt& s, const Stmt& loop);

  void write_threads();
  void write_rows();
  void write_tiles();

  // kernel_rows.cc
  void row_body();
  // Returns whether threads may already see what the others have done.
  bool row_loop(const Stmt& s, const Stmt& start);
  void row_scan(const Stmt& s);
  void single_store(const std::string& text, const TensorInfo& tensor);
  std::string combined_by_group(const std::string& mine, Combine combine, Type type);
  bool writes_buffers(const Stmt& s) const;
  std::string scratch(Type type);
  void barrier(bool buffers = false);

  // kernel_tiles.cc
  void fill_tile(const std::string& tile, const Expr& factor, const std::vector<Stmt>& side,
                 const char* index, int width, std::int64_t extent);

  const Dialect& d_;
  const Nest& nest_;
  const DeviceKernel& kernel_;
  DeviceScope scope_;
  std::string text_;
  int depth_ = 1, counter_ = 0;
  std::string index_type_ = "int";
  std::map<const StmtNode*, std::string> accumulators_;
  std::set<std::string> scratches_;
};

}  // namespace kforge::smith

// The statements of loop nests as C++: loops, what is kept in registers while a loop reduces, running sums
// along lanes, and which loops are written with vectors.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "smith/emit/cpp_expr.h"
#include "smith/loops/loops.h"

namespace kforge::smith {

class NestWriter {
 public:
  NestWriter(const Nest& nest, std::set<std::string>& used, int& counter)
      : nest_(nest), used_(used), counter_(counter) {}

  // Statements of the nests [first, last) of the root, `depth` levels deep.
  std::string write(std::size_t first, std::size_t last, bool team, int depth);
  std::int64_t thread_bytes = 0;  // of the heap, for large locals

 private:
  struct Accumulator {
    std::string name;
    bool lanes = false;  // a Partial, else a plain variable (or a vector inside of a vector loop)
    Type type = Type::kFloat;
    const StmtNode* spread = nullptr;  // a loop that is written out: one accumulator for each iteration

    std::vector<std::string> names() const;
  };
  struct Steady {
    Stmt update;
    const StmtNode* spread = nullptr;
  };

  // Statements and loops (nest_writer.cc).
  void line(const std::string& text);
  bool has_parallel(const Stmt& s) const;
  void top(const Stmt& s);
  void native(const Stmt& s);
  CppScope scope();
  void lines_of(const CppValue& value);
  void statement(const Stmt& s);
  void open_loop(const Stmt& s);
  void body_of(const Stmt& s);
  void store(const Stmt& s);
  // Halves that go from one tensor to another as they are.
  bool copies(const Stmt& s) const;
  // Doing an iteration twice changes nothing: it reads nothing that the loop writes.
  bool repeatable(const StmtNode& loop) const;
  // Rows begin on whole lines, so that every non-temporal store is aligned.
  bool streams_well(const Stmt& s) const;

  // What a loop reduces is kept in registers (nest_accumulators.cc).
  static bool same_place(const Stmt& a, const Stmt& b);
  // Updates below a loop whose place no loop in between moves, or only one that is written out: kept in
  // registers.
  std::vector<Steady> steady_updates(const Stmt& loop) const;
  static const StmtNode* spreading_loop(const Stmt& update, const std::vector<const StmtNode*>& between);
  bool spreads_accumulators(const StmtNode& loop) const;
  // A block in which the variable of a loop that is written out has one value.
  void open_copy(const std::string& loop, std::size_t iteration);
  void close_copy(const std::string& loop);
  bool starts(const Stmt& init, const Stmt& loop) const;
  // The vector loop between a loop and an update inside of it, where it will be written with vectors.
  const StmtNode* vector_between(const Stmt& loop, const Stmt& update) const;
  // `undecided`: a loop around it is about to choose its accumulators.
  bool can_lanes(const StmtNode& loop, bool undecided = false) const;
  void for_loop(const Stmt& s);
  std::string identity_text(Combine combine, Type type);
  // The value an update starts from.
  std::string current(const Stmt& update);
  void update(const Stmt& s);
  std::string combined_text(Combine combine, const std::string& now, const CppValue& value, Type type);
  static std::string bracket(const std::string& text);

  // Running sums (nest_scan.cc).
  // A running sum or product along lanes: prefixes inside of a vector, and the total carried on.
  bool scan_lanes(const Stmt& s, const Stmt& init);

  // Two loops that copy columns to rows: squares of elements are transposed in registers (nest_transpose.cc).
  bool transpose(const Stmt& s);
  std::string end_of(const Stmt& loop);

  const Nest& nest_;
  std::set<std::string>& used_;
  int& counter_;
  std::int64_t heap_at_ = 0;  // in this nest
  std::string text_;
  int depth_ = 1;
  bool team_ = false, collapsing_ = false;
  std::string lanes_;  // name of the vector loop around, where it is written with vectors
  Stmt initial_;       // a store of a neutral element that was left out
  std::map<const StmtNode*, Accumulator> accumulators_;
  std::map<std::string, std::size_t> copies_;  // loops written out around, and which iteration this is
};

// What vectors/accumulators.h calls a way to combine: "Plus", "Times", "Larger", "Smaller".
std::string how_of(Combine combine);

}  // namespace kforge::smith

// Loop nests: an immutable tree of statements. Built from stages, changed only by the named transformations
// of schedule/, printed for people, interpreted by the tests, and written out by emit/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "smith/graph/program.h"

namespace kforge::smith {

struct StmtNode;
using Stmt = std::shared_ptr<const StmtNode>;

enum class Run : std::uint8_t {
  kSerial,
  kParallel,  // iterations on the threads of the team
  kVector,    // iterations in the lanes of a vector, `unroll` vectors at a time
  kUnrolled,  // written out
};
std::string_view name_of(Run run);

struct StmtNode {
  enum class Kind : std::uint8_t {
    kBlock,   // body in order
    kFor,     // for (var = begin; var < end; ++var) body[0]
    kStore,   // tensor[position] = value
    kUpdate,  // tensor[position] = combine(tensor[position], value)
    kNative,
  };
  Kind kind = Kind::kBlock;
  std::vector<Stmt> body;

  // kFor. The variable counts from 0 to `extent`; `limit` (may be null) is a position that cuts it shorter.
  std::string name;
  std::int64_t extent = 0;
  Expr limit;
  Run run = Run::kSerial;
  int unroll = 1;
  bool backwards = false;
  bool scan = false;                // iterations depend on each other: a running sum
  std::string note;                 // for people: what the nest computes
  std::vector<std::string> locals;  // temporaries that live for one iteration

  // kStore, kUpdate
  std::string tensor;
  Shape view;
  std::vector<Expr> position;
  Expr value;
  Combine combine = Combine::kNone;
  bool stream = false;  // past the caches

  std::shared_ptr<const NativeCode> native;

  Expr var() const;  // kFor
};

Stmt block(std::vector<Stmt> body);  // blocks in blocks are flattened
Stmt loop(std::string name, std::int64_t extent, Stmt body);
Stmt with_body(const Stmt& s, std::vector<Stmt> body);
Stmt edited(const Stmt& s, const std::function<void(StmtNode&)>& edit);

// The program as loops: one nest per stage, unscheduled.
struct Nest {
  std::map<std::string, TensorInfo> tensors;
  Stmt root;  // a block of nests
};
Nest build_nest(const Program& program);

// Parents first.
void visit(const Stmt& s, const std::function<void(const StmtNode&)>& fn);
// Rebuilds; `fn` may return a replacement for a statement (not looked into further) or null.
Stmt rewrite(const Stmt& s, const std::function<Stmt(const Stmt&)>& fn);
// Applies to every expression and position.
Stmt map_expressions(const Stmt& s, const std::function<Expr(const Expr&)>& fn);
Stmt find_loop(const Stmt& s, std::string_view name);  // null where there is none
std::vector<std::string> loop_names(const Stmt& s);

// Tensors read and written below a statement.
std::set<std::string> reads_of(const Stmt& s);
std::set<std::string> writes_of(const Stmt& s);

std::string print(const Nest& nest);

}  // namespace kforge::smith

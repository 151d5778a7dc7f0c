// Attention as one kernel: softmax(q k' + what the graph does to the scores) v, block of keys by block of
// keys. The scores of a few queries and one block of keys are all that ever exists; the softmax keeps a
// running maximum and a running sum, and what was added up so far is scaled down where the maximum grew.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "smith/graph/program.h"
#include "smith/schedule/schedule.h"

namespace kforge::smith {

// One operand: a pointer, what its address is made of, and its strides.
struct AttentionOperand {
  std::string tensor;
  Expr base;  // of the variable "batch" only
  long row = 0, column = 0;
};

struct Attention {
  std::string tensor;  // the result: the key of its schedule
  std::string label;   // for people
  long batch = 1, queries = 1, keys = 1, depth = 1, width = 1;
  AttentionOperand q, k, v, y;  // rows are queries or keys, columns lie along depth or width
  // A score from the sum of products: an expression of batch, query, first + column (the key) and the load of
  // "sum_at" at column.
  Expr score;
  std::vector<std::string> reads;  // tensors the score reads besides
  // Keys from query + causal on weigh nothing (their scores are masked far below every other); 0: all count.
  long causal = 0;
};

struct MatchedAttention {
  Attention attention;
  std::map<std::string, TensorInfo> tensors;  // of everything it touches
};

struct MatchedAttentions {
  Program rest;
  std::vector<MatchedAttention> parts;
};
// Product, softmax, product: where the steps of the program are just that, they become one line that calls
// the kernel.
MatchedAttentions match_attention(Program program);

// Block sizes.
struct AttentionSchedule {
  long keys = 128;  // of a block
  long rows = 256;  // queries of a piece of work
};
AttentionSchedule first_schedule(const Attention& attention, const Machine& machine, int threads);
std::string to_json(const AttentionSchedule& schedule);
Result<AttentionSchedule> attention_schedule_from_json(std::string_view json, const Attention& attention);
struct AttentionMove {
  std::string name, why;
  AttentionSchedule schedule;
};
std::vector<AttentionMove> neighbours(const AttentionSchedule& schedule, const Attention& attention);

// The struct of constants that kernels/attention/attention.h takes, and the kernel made of it. Adds the
// headers it needs.
std::string attention_source(const MatchedAttention& matched, const AttentionSchedule& schedule,
                             std::set<std::string>& headers);
std::string summary_of(const MatchedAttention& matched, const AttentionSchedule& schedule);

}  // namespace kforge::smith

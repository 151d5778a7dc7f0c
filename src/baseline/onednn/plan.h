// A bound graph as a list of steps, one or a few per operator, each a oneDNN primitive or a loop. Made once;
// what depends on params alone runs in prepare(), the rest in every call. Intermediates share one block of
// memory by their lifetimes, as an eager framework's caching allocator makes them.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "baseline/onednn/tensor.h"
#include "task/task.h"

namespace kforge::onednn {

// Address of every buffer in the call under way, by Tensor::buffer.
class Pointers {
 public:
  explicit Pointers(std::size_t count) : base_(count) {}

  template <class T>
  T* get(const Tensor& tensor) const {
    return reinterpret_cast<T*>(raw(tensor));
  }
  std::byte* raw(const Tensor& tensor) const {
    return base_[static_cast<std::size_t>(tensor.buffer)] +
           tensor.offset * static_cast<std::int64_t>(size_of(tensor.dtype));
  }
  std::byte*& operator[](std::size_t buffer) { return base_[buffer]; }

 private:
  std::vector<std::byte*> base_;
};

using Run = std::function<void(const Pointers&)>;

struct Step {
  std::string what;          // "MatMul_1: brgemm:avx512_core"
  std::vector<int> touches;  // buffers read or written
  Run run;
  std::string node, op;  // of the graph; empty for what belongs to no operator
};

struct Buffer {
  enum class Kind : std::uint8_t {
    kArgument,   // in the parent's memory
    kConstant,   // known when the plan is made
    kPrepared,   // made from params by prepare()
    kTemporary,  // lives within a call
  };
  Kind kind = Kind::kTemporary;
  std::size_t bytes = 0;
  std::size_t argument = 0;                  // kArgument
  bool fixed = false;                        // its content does not change between calls
  const ConstantTensor* constant = nullptr;  // kConstant
};

class Plan {
 public:
  // An Error names the operator that has no implementation. `task` must outlive the plan.
  static Result<std::unique_ptr<Plan>> make(const BoundTask& task);

  // `arguments` are addresses in C order; params must hold their values.
  void prepare(const std::vector<std::byte*>& arguments);
  void call(const std::vector<std::byte*>& arguments);

  // The same as call(), with the nanoseconds of each step added to its samples.
  void call_timed(const std::vector<std::byte*>& arguments, std::vector<std::vector<double>>& samples);
  const std::vector<Step>& steps() const { return steps_; }

  // One line per step, for people.
  std::string print() const;

 private:
  friend class Builder;
  void place_arguments(const std::vector<std::byte*>& arguments);
  void place_temporaries();

  std::vector<Buffer> buffers_;
  std::vector<Step> prepare_steps_, steps_;
  std::vector<std::unique_ptr<std::byte, void (*)(void*)>> owned_;
  std::unique_ptr<Pointers> pointers_;
};

// Memory for tensors: aligned, on huge pages where the system gives them. Zeroed.
std::unique_ptr<std::byte, void (*)(void*)> allocate(std::size_t bytes);

// The one CPU engine and stream of this process.
const dnnl::engine& engine();
dnnl::stream& stream();

}  // namespace kforge::onednn

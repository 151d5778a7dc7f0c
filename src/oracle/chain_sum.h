// How the oracle adds up many values: in index order, in chains. One chain of millions of floats loses
// percents (values below half a unit in the last place of the sum vanish), and a bound taken from that would
// let a program leave out most of its inputs. Every vectorised fp32 program has several chains; sums that a
// plain loop does well stay one.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kforge {

// Values of one chain of a sum of `count`: all of them up to 65,536, at most 16 chains in all.
inline std::int64_t chain_length(std::int64_t count) {
  constexpr std::int64_t kLeast = 65'536, kMostChains = 16;
  return std::max(kLeast, (count + kMostChains - 1) / kMostChains);
}

template <class F>
class ChainSum {
 public:
  explicit ChainSum(std::int64_t count) : length_(chain_length(count)), left_(length_) {}

  void add(F value) {
    chain_ += value;
    if (--left_ > 0) return;
    done_ += chain_;
    chain_ = 0;
    left_ = length_;
  }
  F total() const { return done_ + chain_; }

 private:
  std::int64_t length_, left_;
  F done_ = 0, chain_ = 0;
};

}  // namespace kforge

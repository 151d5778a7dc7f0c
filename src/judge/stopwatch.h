// Where the time of a judgement went, by name, for `--explain` and for bench/.
#pragma once

#include <chrono>
#include <map>
#include <string>

namespace kforge {

class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;

  class Measure {
   public:
    Measure(Stopwatch& watch, std::string name) : watch_(watch), name_(std::move(name)) {}
    ~Measure() { watch_.add(name_, std::chrono::duration<double>(Clock::now() - start_).count()); }
    Measure(const Measure&) = delete;
    Measure& operator=(const Measure&) = delete;

   private:
    Stopwatch& watch_;
    std::string name_;
    const Clock::time_point start_ = Clock::now();
  };

  // Counts until the returned object dies. Names may nest: "oracle" is a part of "checks".
  [[nodiscard]] Measure measure(std::string name) { return Measure(*this, std::move(name)); }
  void add(const std::string& name, double seconds) { seconds_[name] += seconds; }
  double total() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  // All parts, and "total" since this object was made.
  std::map<std::string, double> seconds() const {
    auto all = seconds_;
    all["total"] = total();
    return all;
  }

 private:
  Clock::time_point start_ = Clock::now();
  std::map<std::string, double> seconds_;
};

}  // namespace kforge

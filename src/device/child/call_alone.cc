#include "device/child/call_alone.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

#include "base/files.h"
#include "device/child/load_package.h"
#include "device/device_run.h"
#include "runner/protocol.h"

namespace kforge {
namespace {

constexpr int kCalls = 3;

// What the tensors' file holds, mapped privately: outputs are nobody's.
class MappedTensors final : public HostTensors {
 public:
  static Result<MappedTensors> open(const char* path, const PlanSetting& setting) {
    std::ifstream lines(path);
    std::string role;
    std::size_t offset = 0, bytes = 0, end = 0;
    MappedTensors made;
    while (lines >> role >> offset >> bytes) {
      if (made.places_.size() == setting.tensors.size() ||
          setting.tensors[made.places_.size()].bytes != bytes)
        return fail("{} is of other tensors", path);
      made.places_.push_back({offset, bytes});
      end = std::max(end, offset + bytes);
    }
    if (made.places_.size() != setting.tensors.size()) return fail("{} has too few tensors", path);
    void* base = ::mmap(nullptr, end, PROT_READ | PROT_WRITE, MAP_PRIVATE, KFORGE_CONTROL_FD, 0);
    if (base == MAP_FAILED) return fail("cannot map the tensors");
    made.base_ = static_cast<std::byte*>(base);
    return made;
  }
  std::span<std::byte> data(std::size_t tensor, std::uint32_t) const override {
    return {base_ + places_[tensor].first, places_[tensor].second};
  }

 private:
  std::byte* base_ = nullptr;
  std::vector<std::pair<std::size_t, std::size_t>> places_;
};

Result<void> run(const char* path, const char* tensors) {
  KF_TRY(DevicePackage package, read_package(path));
  KF_TRY(LaunchPlan plan, plan_of(package));
  KF_TRY(const MappedTensors host, MappedTensors::open(tensors, package.setting));
  KF_TRY(auto api, open_device(package.api));
  KF_TRY(auto built, api->build(package, plan, false));
  if (!built) return fail("{}", reason_text(built.error()));
  DeviceRun run(*api.release(), plan, package.setting, host, 1);  // the device ends with the process
  constexpr std::uint32_t kSlot[] = {0};
  if (run.has_prepare()) KF_TRY_VOID(run.prepare());
  KF_TRY_VOID(run.upload(kSlot));
  for (int i = 0; i < kCalls; ++i) {
    KF_TRY([[maybe_unused]] const std::uint64_t ns, run.call(kSlot));
  }
  return {};
}

}  // namespace

int call_alone(const char* package, const char* tensors) {
  auto done = run(package, tensors);
  if (!done) ::fprintf(stderr, "%s\n", done.error().message.c_str());
  ::fflush(nullptr);
  // An ordinary exit: profilers write what they have found then.
  return done ? 0 : 2;
}

}  // namespace kforge

#include "import/opaque_modules.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "import/bridge.h"
#include "import/module_facts.h"

namespace kforge {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kCallLimit{900};  // float64 at full sizes; an attempt waits for it once
constexpr std::size_t kLargestResult = std::size_t{4} << 30;

class PyTorchModules : public OpaqueModules {
 public:
  PyTorchModules(fs::path python, std::optional<SandboxTier> sandbox)
      : python_(std::move(python)), sandbox_(sandbox) {}

  Result<std::vector<OpaqueTensor>> run(const OpaqueCall& call) override {
    KF_TRY_VOID(open(call.source));
    json tensors = json::array();
    for (std::size_t i = 0; i < call.tensors.size(); ++i) {
      const OpaqueTensor& one = call.tensors[i];
      const std::string file = fmt::format("tensor_{}", i);
      KF_TRY_VOID(bridge_->give(file, {reinterpret_cast<const char*>(one.data.data()), one.data.size()}));
      tensors.push_back({{"name", one.name},
                         {"kind", one.state ? "state" : "input"},
                         {"dtype", name_of(one.dtype)},
                         {"held", !is_float(one.dtype) ? "int64"
                                  : call.wide          ? "float64"
                                                       : "float32"},
                         {"shape", one.shape},
                         {"file", file}});
    }
    const std::string prefix = bridge_->new_prefix();
    auto answer = bridge_->ask({{"do", "run_opaque"},
                                {"values", call.numbers},
                                {"wide", call.wide},
                                {"tensors", tensors},
                                {"folder", bridge_->given().string()},
                                {"prefix", prefix}},
                               kCallLimit);
    if (!answer) return std::unexpected(bridge_->error(answer.error()));
    return results(*answer, prefix);
  }

 private:
  Result<void> open(const std::string& source) {
    if (bridge_ && source == source_) return {};
    bridge_.reset();
    KF_TRY(PythonFacts facts, python_with_torch(python_));
    SandboxTier tier = SandboxTier::kBubblewrap;
    if (sandbox_) {
      tier = *sandbox_;
    } else {
      KF_TRY(tier, strongest_tier());
    }
    KF_TRY(folder_, TempDir::create());
    const fs::path file = folder_.path() / "reference.py";
    KF_TRY_VOID(write_scratch_file(file, source));
    KF_TRY(bridge_, Bridge::open(facts, file, tier));
    bridge_->show_as("reference.py");
    source_ = source;
    return {};
  }

  // The module's process could have written anything.
  Result<std::vector<OpaqueTensor>> results(const json& answer, const std::string& prefix) {
    KF_TRY(auto described, tensor_facts(answer.value("outputs", json())));
    std::vector<OpaqueTensor> out;
    for (std::size_t i = 0; i < described.size(); ++i) {
      const TensorFacts& facts = described[i];
      if (facts.dtype != DType::kFloat64 && facts.dtype != DType::kFloat32 && facts.dtype != DType::kInt64)
        return fail("the module's process answered with something else than asked for");
      KF_TRY(std::string bytes, bridge_->product(fmt::format("{}output_{}", prefix, i), kLargestResult));
      if (bytes.size() != facts.bytes())
        return fail("a result of the module has {} bytes where {} are right", bytes.size(), facts.bytes());
      OpaqueTensor& one = out.emplace_back(OpaqueTensor{facts.name, false, facts.dtype, facts.shape, {}});
      one.data.resize(bytes.size());
      if (!bytes.empty()) std::memcpy(one.data.data(), bytes.data(), bytes.size());
      bridge_->drop(fmt::format("{}output_{}", prefix, i));
    }
    return out;
  }

  const fs::path python_;
  const std::optional<SandboxTier> sandbox_;
  std::string source_;
  TempDir folder_;
  std::unique_ptr<Bridge> bridge_;
};

}  // namespace

std::shared_ptr<OpaqueModules> pytorch_modules(fs::path python, std::optional<SandboxTier> sandbox) {
  return std::make_shared<PyTorchModules>(std::move(python), sandbox);
}

}  // namespace kforge

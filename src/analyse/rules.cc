#include "analyse/rules.h"

#include "profile/profile_candidate.h"

namespace kforge {

bool is_advice_tag(std::string_view tag) {
  for (std::string_view known : kAdviceTags)
    if (known == tag) return true;
  return false;
}

std::optional<double> Known::fact(std::string_view name) const {
  if (!input_->profile) return std::nullopt;
  const Fact* found = find_fact(*input_->profile, name);
  return found ? std::optional(found->value) : std::nullopt;
}

bool Known::machine_has(std::string_view feature) const {
  const Machine* machine = input_->setting ? input_->setting->machine : nullptr;
  return machine && machine->features.contains(std::string(feature));
}

bool Known::on_device() const {
  const Platform* platform = input_->setting ? input_->setting->platform : nullptr;
  return platform && platform->kind == PlatformKind::kDevice;
}

int Known::vector_bits() const {
  if (machine_has("avx512f")) return 512;
  return machine_has("avx2") ? 256 : 0;
}

std::string Known::bound() const {
  if (!input_->setting || input_->setting->roofline_bound.empty()) return "";
  return input_->setting->roofline_bound == "compute" ? "compute" : "memory";
}

std::string Known::source() const {
  std::string all;
  if (input_->program && input_->program->program())
    for (const SourceFile& file : input_->program->program()->files) all += file.content;
  return all;
}

int Known::count(std::string_view text) const {
  std::string all = source();
  int found = 0;
  for (std::size_t at = all.find(text); at != std::string::npos; at = all.find(text, at + text.size()))
    ++found;
  return found;
}

bool Known::busy_machine() const { return input_->profile && shared_processors(*input_->profile); }

double amdahl(double share, double factor) {
  share = share < 0 ? 0 : share > 1 ? 1 : share;
  return 1 / (1 - share + share / factor);
}

}  // namespace kforge

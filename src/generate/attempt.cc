#include "generate/attempt.h"

#include <algorithm>
#include <iterator>

namespace kforge {
namespace {

constexpr std::string_view kPasses[] = {"functional", "optimization"};

constexpr std::string_view kStatuses[] = {"ok",       "ok_repaired",   "no_code",   "truncated",
                                          "elided",   "edit_mismatch", "unchanged", "refused",
                                          "too_long", "cancelled",     "no_reply",  "exhausted"};
static_assert(std::size(kStatuses) == static_cast<std::size_t>(ReplyStatus::kExhausted) + 1);

}  // namespace

std::string_view name_of(Pass pass) { return kPasses[static_cast<std::size_t>(pass)]; }

std::optional<Pass> pass_from_name(std::string_view name) {
  auto found = std::ranges::find(kPasses, name);
  if (found == std::end(kPasses)) return std::nullopt;
  return static_cast<Pass>(found - std::begin(kPasses));
}

std::string_view name_of(ReplyStatus status) { return kStatuses[static_cast<std::size_t>(status)]; }

std::optional<ReplyStatus> reply_status_from_name(std::string_view name) {
  auto found = std::ranges::find(kStatuses, name);
  if (found == std::end(kStatuses)) return std::nullopt;
  return static_cast<ReplyStatus>(found - std::begin(kStatuses));
}

ModelCall call_of(const ModelRequest& request, const ModelReply& reply) {
  return {request.role, request.attempt, request.ordinal, reply.end,
          reply.detail, reply.usage,     reply.seconds,   reply.model};
}

TokenUsage total_usage(const std::vector<ModelCall>& calls) {
  TokenUsage total;
  if (!calls.empty()) total.dollars = 0;
  for (const ModelCall& call : calls) {
    total.input += call.usage.input;
    total.cache_read += call.usage.cache_read;
    total.cache_write += call.usage.cache_write;
    total.output += call.usage.output;
    total.estimated |= call.usage.estimated;
    if (total.dollars && call.usage.dollars)
      *total.dollars += *call.usage.dollars;
    else
      total.dollars.reset();
  }
  return total;
}

const Candidate* Attempt::program() const {
  if (judgement && judgement->tuned) return &*judgement->tuned;
  return generation && generation->program ? &*generation->program : nullptr;
}

std::string_view Attempt::change() const {
  return generation ? std::string_view(generation->change) : std::string_view();
}

}  // namespace kforge

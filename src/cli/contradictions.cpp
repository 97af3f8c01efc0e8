#include "cli/contradictions.hpp"

#include <fmt/format.h>

#include "plan/axes.hpp"

namespace flashbench {

namespace {

constexpr std::string_view both_masks = "for both masks write --mask full,causal";
constexpr std::string_view from_files = "the values come from the files";
constexpr std::string_view once = "each row runs once, untimed and unchecked";
constexpr std::string_view no_times =
    "nothing is timed and nothing can be compared: leave one of them out";

// Beside those of settings, which a config must not hold either.
const std::vector<Contradiction> of_options{
    {"causal", "no-causal", both_masks}, {"causal", "mask", both_masks},
    {"no-causal", "mask", both_masks},   {"load", "init", from_files},
    {"load", "seed", from_files},        {"profile", "warmup", once},
    {"profile", "samples", once},        {"profile", "iters", once},
    {"profile", "time-budget", once},    {"profile", "precision", once},
    {"profile", "check-only", once},     {"profile", "peak-tflops", once},
    {"profile", "pivot", once},          {"profile", "wide", once},
    {"profile", "baseline", once},       {"profile", "against", once},
    {"profile", "resume", once},         {"profile", "dump", once},
    {"profile", "counters", once},       {"check-only", "baseline", no_times},
};

bool gives(const RunWords& words, std::string_view option) {
  return words.given.contains(std::string(option));
}

}  // namespace

void refuse_contradictions(const RunWords& words) {
  for (const auto* table : {&contradictions(), &of_options})
    for (const auto& [one, other, why] : *table)
      if (gives(words, one) && gives(words, other))
        throw UsageError(fmt::format("--{} and --{} contradict each other: {}", one, other, why));
  if (gives(words, "baseline") && words.request.options.check == Check::only)
    throw UsageError(fmt::format("--baseline and \"check-only\" of {} contradict each other: {}",
                                 words.config, no_times));
  if (gives(words, "threshold") && !gives(words, "baseline") && !gives(words, "against"))
    throw UsageError("--threshold says nothing without --baseline or --against");
  if (gives(words, "allow-different") && !gives(words, "baseline"))
    throw UsageError("--allow-different says nothing without --baseline");
}

}  // namespace flashbench

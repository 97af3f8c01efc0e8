#include "cli/contradictions.hpp"

#include <fmt/format.h>

namespace flashbench {

namespace {

void refuse_pair(const RunWords& words, const char* one, const char* other, const char* why) {
  if (words.given.contains(one) && words.given.contains(other))
    throw UsageError(fmt::format("--{} and --{} contradict each other: {}", one, other, why));
}

void refuse_beside_profile(const RunWords& words) {
  constexpr const char* once = "each row runs once, untimed and unchecked";
  for (const char* other :
       {"warmup", "samples", "iters", "time-budget", "precision", "check-only", "peak-tflops",
        "pivot", "wide", "baseline", "against", "resume", "dump", "counters"})
    refuse_pair(words, "profile", other, once);
}

}  // namespace

void refuse_contradictions(const RunWords& words) {
  constexpr const char* exact = "--iters is an exact count";
  constexpr const char* masks = "for both masks write --mask full,causal";
  refuse_pair(words, "iters", "samples", exact);
  refuse_pair(words, "iters", "time-budget", exact);
  refuse_pair(words, "iters", "precision", exact);
  refuse_pair(words, "no-check", "check-only", "nothing would be left to do");
  refuse_pair(words, "causal", "no-causal", masks);
  refuse_pair(words, "causal", "mask", masks);
  refuse_pair(words, "no-causal", "mask", masks);
  refuse_pair(words, "load", "init", "the values come from the files");
  refuse_pair(words, "load", "seed", "the values come from the files");
  refuse_beside_profile(words);
  if (words.given.contains("threshold") && !words.given.contains("baseline") &&
      !words.given.contains("against"))
    throw UsageError("--threshold says nothing without --baseline or --against");
  if (words.given.contains("allow-different") && !words.given.contains("baseline"))
    throw UsageError("--allow-different says nothing without --baseline");
}

}  // namespace flashbench

// The causal mask (the document's section 5).
#include <fmt/format.h>

#include "claims/counted.hpp"
#include "claims/findings.hpp"
#include "claims/trial.hpp"

namespace flashbench::findings {

namespace {

constexpr Wanted v1_causal{"v1", Pass::fwd, Mask::causal}, v2_causal{"v2", Pass::fwd, Mask::causal};

// How long full takes as against causal, at every length; the longest decides.
Finding full_over_causal(const Report& report, const Wanted& full, const Wanted& causal,
                         double documents) {
  const std::vector<RowPair> pairs = timed_pairs(report, full, causal);
  if (pairs.empty()) return cannot_tell(why_no_pairs(report, full, causal));
  Listing factors;
  for (const RowPair& pair : pairs) factors.add(*pair.one, time_quotient(*pair.one, *pair.other));
  const RowPair& longest = pairs.back();
  const Bounds factor = time_bounds(*longest.one, *longest.other);
  Trial trial;
  trial.add(factor, near_document(documents), {longest.one, longest.other});
  return trial.finding(
      fmt::format("time of full over causal: {}; the longest {}", factors.text(), shown(factor)));
}

}  // namespace

Finding masked_scores_count_for_nothing(const Report& report) {
  std::string figures;
  bool passes = true;
  for (const Wanted& wanted : {v1_causal, v2_causal}) {
    const Row* row = checked(report, wanted, "o");
    if (!row) return cannot_tell(fmt::format("O of {} was not checked", described(wanted)));
    const Verdict o = verdict_on(*row, "o");
    passes = passes && o == Verdict::pass;
    figures += fmt::format("{}{} {}", figures.empty() ? "check of O, causal: " : ", ", wanted.impl,
                           name(o));
  }
  return stand(passes, figures);
}

Finding masked_half_is_computed_without_skip(const Report& report) {
  std::string figures;
  bool in_full = true;
  for (const char* impl : {"naive", "v1"}) {
    const Finding missing = of_counted(
        report, {impl}, {impl, Pass::fwd, Mask::causal}, [&](const Row& full, const Row& causal) {
          const double share = causal.counts->flops / full.counts->flops;
          in_full = in_full && same(share, 1);
          figures += fmt::format("{}{} {:.3f}", figures.empty() ? "" : ", ", impl, share);
          return stand(true, "");
        });
    if (missing.standing == Standing::cannot_be_tested) return missing;
  }
  return stand(in_full, "FLOPs of causal over full: " + figures);
}

Finding blocks_above_the_diagonal_are_skipped(const Report& report) {
  const auto judge = [](const Row& full, const Row& causal) {
    const double share = causal.counts->flops / full.counts->flops;
    const double visible = unmasked_pairs(causal.what.problem) / unmasked_pairs(full.what.problem);
    const Verdict o = verdict_on(causal, "o");
    if (o == Verdict::not_checked) return cannot_tell("O of the causal row was not checked");
    return stand(
        share >= visible && share < 0.65 && o == Verdict::pass,
        fmt::format("FLOPs of causal over full {:.3f}, of which visible {:.3f}; check of O: {}",
                    share, visible, name(o)));
  };
  return of_counted(report, v2, v2_causal, judge, Wrong::taken);
}

Finding steps_end_at_the_diagonal(const Report& report) {
  return of_counted(report, v2, v2_causal, [](const Row& full, const Row& causal) {
    const double share = times_read(causal, "k") / times_read(full, "k");
    return stand(share >= 0.5 && share < 0.65,
                 fmt::format("K/V tiles read, causal over full: {:.3f} ({:g} of {:g} times K)",
                             share, times_read(causal, "k"), times_read(full, "k")));
  });
}

Finding masked_takes_as_long_without_skip(const Report& report) {
  return full_over_causal(report, v1, v1_causal, 1);
}

Finding causal_takes_half_the_time(const Report& report) {
  return full_over_causal(report, v2, v2_causal, 2);
}

}  // namespace flashbench::findings

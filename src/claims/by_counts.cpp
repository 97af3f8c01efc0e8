// The forward's counts, in units of the tensors' sizes, so that none depends on the shape.
#include <fmt/format.h>

#include "claims/counted.hpp"
#include "claims/findings.hpp"

namespace flashbench::findings {

namespace {

template <class Judge>
Finding of_forward(const Report& report, const Judge& judge) {
  return of_counted(report, v1, v2, [&](const Row& one, const Row& two) {
    const double steps = forward_steps(one);
    if (steps < 2) return cannot_tell("its sequence is a single K/V tile");
    return judge(one, two, steps);
  });
}

// Of each element of O and each step but the first, which has no old O.
double per_later_step(double count, const Row& row, double steps) {
  return count / elements(row, "o") / (steps - 1);
}

}  // namespace

Finding o_is_touched_once(const Report& report) {
  return of_forward(report, [](const Row& one, const Row& two, double steps) {
    const double by_v1 = times_read(one, "o") + times_written(one, "o");
    const double read = times_read(two, "o"), written = times_written(two, "o");
    const bool as_said = same(by_v1, 2 * steps - 1) || same(by_v1, 2 * steps);
    return stand(as_said && same(read, 0) && same(written, 1),
                 fmt::format("Tc = {:g}: v1 {:g} times{}, v2 read {:g}, written {:g}", steps, by_v1,
                             same(by_v1, 2 * steps - 1) ? " (the first O is known to be 0)" : "",
                             read, written));
  });
}

Finding q_is_loaded_once(const Report& report) {
  return of_forward(report, [](const Row& one, const Row& two, double steps) {
    const double by_v1 = times_read(one, "q"), by_v2 = times_read(two, "q");
    return stand(same(by_v1, steps) && same(by_v2, 1),
                 fmt::format("Tc = {:g}: v1 {:g} times, v2 {:g}", steps, by_v1, by_v2));
  });
}

Finding traffic_of_o_outweighs_that_of_k_and_v(const Report& report) {
  return of_forward(report, [](const Row& one, const Row& two, double) {
    const auto moved = [](const Row& row, std::initializer_list<const char*> operands) {
      double bytes = 0;
      for (const char* operand : operands)
        bytes += bytes_read(row, operand) + bytes_written(row, operand);
      return bytes / (4 * elements(row, "o"));
    };
    const auto saved = {"o", "q", "statistics"}, paid = {"k", "v"};
    const double less = moved(one, saved) - moved(two, saved);
    const double more = moved(two, paid) - moved(one, paid);
    return stand(less > more,
                 fmt::format("in tensors of N x d at this tile size: O, Q, m and l {:.2f} less, K "
                             "and V {:.2f} more",
                             less, more));
  });
}

Finding two_divisions_less(const Report& report) {
  return of_forward(report, [](const Row& one, const Row& two, double steps) {
    const double saved = per_later_step(one.counts->divisions - two.counts->divisions, one, steps);
    return stand(same(saved, 2), fmt::format("an element of O and step: {:.3f} less", saved));
  });
}

Finding one_multiplication_less(const Report& report) {
  return of_forward(report, [](const Row& one, const Row& two, double steps) {
    const double by_v1 = per_later_step(one.counts->corrections, one, steps);
    const double by_v2 = per_later_step(two.counts->corrections, two, steps);
    return stand(
        by_v1 - by_v2 > 0.99,
        fmt::format("an element of O and step: v1 {:.3f}, since l e^(m - m') is one factor "
                    "a row; v2 {:.3f}, where m grew",
                    by_v1, by_v2));
  });
}

Finding one_division_at_the_end(const Report& report) {
  return of_forward(report, [](const Row&, const Row& two, double steps) {
    const double divisions = two.counts->divisions / elements(two, "o");
    return stand(same(divisions, 1),
                 fmt::format("Tc = {:g}: {:g} an element of O", steps, divisions));
  });
}

Finding warps_along_q_merge_nothing(const Report& report) {
  return of_forward(report, [](const Row& one, const Row& two, double) {
    const double by_v1 = one.counts->merges, by_v2 = two.counts->merges;
    return stand(
        by_v1 > 0 && by_v2 == 0,
        fmt::format("merged rows of maxima, sums and outputs: v1 {:.0f}, v2 {:.0f}", by_v1, by_v2));
  });
}

Finding warps_along_q_do_not_wait(const Report& report) {
  return of_forward(report, [](const Row& one, const Row& two, double) {
    // K travels once for each Q tile, so that this is how many tiles of scores v2 makes.
    const double rows = elements(two, "statistics");
    const double steps = two.counts->exponentials / rows - static_cast<double>(keys_of(two));
    const double tiles = heads_of(two.what.problem) * steps * times_read(two, "k");
    return stand(
        two.counts->barriers <= tiles * 1.001 && one.counts->barriers > tiles * 1.001,
        fmt::format("waits of all warps: v1 {:.0f}, v2 {:.0f}, for the loads of its {:.0f} "
                    "K/V tiles",
                    one.counts->barriers, two.counts->barriers, tiles));
  });
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
  return of_counted(report, v2, {"v2", Pass::fwd, Mask::causal}, judge, Wrong::taken);
}

}  // namespace flashbench::findings

// The forward's counts, in units of the tensors' sizes, so that none depends on the shape.
#include <fmt/format.h>

#include <ranges>

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

// What a tile writes are O and the statistics.
Finding q_tiles_need_no_other(const Report& report) {
  return of_forward(report, [](const Row&, const Row& two, double) {
    const double o = bytes_read(two, "o"), statistics = bytes_read(two, "statistics");
    return stand(o == 0 && statistics == 0 && two.counts->merges == 0,
                 fmt::format("v2 reads {:g} bytes of O and {:g} of m, l or L, and merges {:g} rows",
                             o, statistics, two.counts->merges));
  });
}

Finding savings_grow_with_steps(const Report& report) {
  const std::vector<RowPair> pairs = counted_pairs(report, v1, v2);
  for (const RowPair& longer : std::views::reverse(pairs))
    for (const RowPair& shorter : pairs) {
      const double steps[] = {forward_steps(*shorter.one), forward_steps(*longer.one)};
      if (shorter.one->what.problem.head_dim != longer.one->what.problem.head_dim ||
          steps[0] >= steps[1])
        continue;
      const auto saved = [](const RowPair& pair) {
        return (pair.one->counts->divisions - pair.other->counts->divisions) /
               elements(*pair.one, "o");
      };
      return stand(
          saved(longer) > saved(shorter),
          fmt::format("divisions an element of O less in all: {:g} at Tc = {:g}, {:g} at Tc = {:g}",
                      saved(shorter), steps[0], saved(longer), steps[1]));
    }
  return cannot_tell("no fp32 rows of v1 and v2 hold counts at two lengths");
}

}  // namespace flashbench::findings

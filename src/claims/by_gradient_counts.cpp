// The backward's counts (the document's section 7).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "claims/counted.hpp"
#include "claims/findings.hpp"

namespace flashbench::findings {

namespace {

constexpr Wanted naive_backward{"naive", Pass::bwd}, v1_backward{"v1", Pass::bwd},
    v2_backward{"v2", Pass::bwd};

template <class Judge>
Finding of_backward(const Report& report, const Judge& judge) {
  return of_counted(report, v1_backward, v2_backward, [&](const Row& one, const Row& two) {
    const double steps = backward_steps(one);
    if (steps < 2) return cannot_tell("its sequence is a single K/V tile");
    return judge(one, two, steps);
  });
}

}  // namespace

Finding p_is_recovered_without_division(const Report& report) {
  return of_backward(report, [](const Row& one, const Row& two, double) {
    const double pairs = heads_of(one.what.problem) * unmasked_pairs(one.what.problem);
    const double by_v1 = one.counts->divisions / pairs, by_v2 = two.counts->divisions / pairs;
    return stand(by_v2 == 0 && by_v1 > 0,
                 fmt::format("divisions an element of P: v1 {:g}, v2 {:g}", by_v1, by_v2));
  });
}

Finding k_and_v_stay_outside(const Report& report) {
  return of_backward(report, [](const Row& one, const Row& two, double steps) {
    bool as_said = true;
    std::vector<std::string> parts;
    for (const Row* row : {&one, &two}) {
      const double k = times_read(*row, "k"), v = times_read(*row, "v"), q = times_read(*row, "q");
      as_said = as_said && same(k, 1) && same(v, 1) && same(q, steps);
      parts.push_back(fmt::format("{} K {:g}, V {:g}, Q {:g}", row->what.impl, k, v, q));
    }
    return stand(as_said,
                 fmt::format("{:g} K/V tiles, times read: {}", steps, fmt::join(parts, "; ")));
  });
}

Finding dk_and_dv_have_one_writer(const Report& report) {
  return of_backward(report, [](const Row&, const Row& two, double) {
    std::string figures = "v2";
    bool once = same(times_read(two, "k"), 1) && same(times_read(two, "v"), 1);
    for (const char* gradient : {"dk", "dv"}) {
      const double written = times_written(two, gradient), read = times_read(two, gradient);
      once = once && same(written, 1) && same(read, 0);
      figures += fmt::format(" {} written {:g}, read {:g};", gradient, written, read);
    }
    return stand(once, figures + fmt::format(" K read {:g}, V {:g}", times_read(two, "k"),
                                             times_read(two, "v")));
  });
}

Finding dq_is_added_up_across_blocks(const Report& report) {
  return of_backward(report, [](const Row&, const Row& two, double steps) {
    const double read = times_read(two, "dq"), written = times_written(two, "dq");
    return stand(
        read >= 1 && written > 1,
        fmt::format("{:g} K/V tiles: dQ read {:g} times, written {:g}", steps, read, written));
  });
}

// naive adds up dP * P, and never reads O; v2 adds up dO * O.
Finding both_sides_of_d_agree(const Report& report) {
  const auto judge = [](const Row& left, const Row& right) {
    if (times_read(left, "o") != 0 || times_read(right, "o") == 0)
      return cannot_tell("the two do not compute D from different sides");
    const Verdict of_left = verdict_on(left, "dq"), of_right = verdict_on(right, "dq");
    if (of_left == Verdict::not_checked || of_right == Verdict::not_checked)
      return cannot_tell("dQ was not checked");
    return stand(of_left == Verdict::pass && of_right == Verdict::pass,
                 fmt::format("check of dQ: by rowsum(dP * P) (naive) {}, by rowsum(dO * O) (v2) {}",
                             name(of_left), name(of_right)));
  };
  return of_counted(report, naive_backward, v2_backward, judge, Wrong::taken);
}

Finding d_takes_a_head_dimension_a_row(const Report& report) {
  return of_backward(report, [](const Row&, const Row& two, double) {
    const double a_row = times_read(two, "o") * elements(two, "o") / elements(two, "statistics");
    const auto head_dim = static_cast<double>(two.what.problem.head_dim);
    return stand(same(a_row, head_dim),
                 fmt::format("v2 reads {:g} elements of O a row, d = {:g}, N = {}", a_row, head_dim,
                             keys_of(two)));
  });
}

Finding d_is_computed_once(const Report& report) {
  return of_backward(report, [](const Row& one, const Row& two, double steps) {
    const double by_v1 = times_read(one, "o"), by_v2 = times_read(two, "o");
    return stand(same(by_v1, steps) && same(by_v2, 1),
                 fmt::format("{:g} K/V tiles: O read for D by v1 {:g} times, by v2 {:g}", steps,
                             by_v1, by_v2));
  });
}

}  // namespace flashbench::findings

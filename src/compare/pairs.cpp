#include "compare/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimate/estimate.hpp"

namespace flashbench {

namespace {

// Rounding must not turn 1.05 into more than 5 %.
constexpr double slack = 1e-9;

// Its status in words; empty where its file says none.
std::string status_word(const Row& row) {
  std::string word(row.unrecorded.contains("status") ? "" : name(row.status));
  std::ranges::replace(word, '_', ' ');
  return word;
}

// Why a row has no time to compare; empty when it has.
std::string no_time(const char* which, const Row& row) {
  const std::string status = status_word(row);
  if (!status.empty() && row.status != Status::ok) return fmt::format("{}: {}", which, status);
  if (!row.time) return fmt::format("{}: no time", which);
  if (!(row.time->median > 0)) return fmt::format("{}: the time is not above zero", which);
  return {};
}

// "base: needs 9 GiB; new: the driver says no"
std::string reasons_of(const Row* base, const Row* now) {
  std::string reasons;
  for (const auto& [which, row] : {std::pair{"base", base}, std::pair{"new", now}})
    if (row && row->status != Status::ok && !row->reason.empty())
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", which, row->reason);
  return reasons;
}

// lost or gained, where one of the two was measured and the other says that it was not.
std::optional<Change> measured_once(const Row& base, const Row& now) {
  const bool had = base.status == Status::ok, has = now.status == Status::ok;
  if (had == has || status_word(had ? now : base).empty()) return std::nullopt;
  return had ? Change::lost : Change::gained;
}

std::optional<double> time_of(const Row& row) {
  if (row.status != Status::ok || !row.time) return std::nullopt;
  return row.time->median;
}

Change change_of(const Ratio& time, double threshold) {
  const double most = (1 + threshold) * (1 + slack), least = 1 / most;
  if (time.value > most && time.low > 1) return Change::slower;
  if (time.value < least && time.high < 1) return Change::faster;
  return time.low >= least && time.high <= most ? Change::same : Change::unsure;
}

const char* without_interval(const Row& base, const Row& now) {
  if (has_interval(*base.time)) return "the new report gives";
  return has_interval(*now.time) ? "the base report gives" : "the reports give";
}

bool has_positive_ends(const Time& time) {
  return time.low.value_or(time.median) > 0 && time.high.value_or(time.median) > 0;
}

}  // namespace

Row naming(const Row& row) {
  Row named;
  named.what = row.what;
  named.recorded_key = row.recorded_key;
  named.unrecorded = row.unrecorded;
  return named;
}

Pair single(const Row& row, Change change) {
  const bool in_base = change == Change::missing;
  Pair pair;
  pair.row = naming(row);
  pair.change = change;
  (in_base ? pair.base_ms : pair.new_ms) = time_of(row);
  if (time_of(row)) (in_base ? pair.base_tflops : pair.new_tflops) = row.tflops;
  pair.reason = fmt::format("only in the {} report", in_base ? "base" : "new");
  if (const std::string status = status_word(row); row.status != Status::ok && !status.empty())
    pair.reason += ", " + status;
  pair.details = in_base ? reasons_of(&row, nullptr) : reasons_of(nullptr, &row);
  return pair;
}

void judge_pair(Pair& pair, const Row& base, const Row& now) {
  pair.base_ms = time_of(base);
  pair.new_ms = time_of(now);
  if (pair.base_ms) pair.base_tflops = base.tflops;
  if (pair.new_ms) pair.new_tflops = now.tflops;
  pair.details = reasons_of(&base, &now);
  if (const auto once = measured_once(base, now)) {
    const bool lost = once == Change::lost;
    pair.change = *once;
    pair.reason = fmt::format("{} {}", status_word(lost ? now : base),
                              lost ? "now, ok in the base report" : "in the base report, ok now");
    return;
  }
  pair.reason = no_time("base", base);
  if (pair.reason.empty()) pair.reason = no_time("new", now);
  if (!pair.reason.empty()) return;
  pair.time = ratio(*now.time, *base.time);
  if (!pair.time) {
    pair.reason = has_positive_ends(*base.time) && has_positive_ends(*now.time)
                      ? "their quotient is too large or too small a number"
                      : "an interval is not above zero";
    return;
  }
  if (base.tflops && now.tflops && *base.tflops > 0) pair.tflops = *now.tflops / *base.tflops;
  if (pair.tflops && !std::isfinite(*pair.tflops)) pair.tflops.reset();
  pair.change = change_of(*pair.time, pair.threshold);
  if (base.time->n == 1 || now.time->n == 1) {
    pair.change = Change::unsure;
    pair.reason = "a single sample has no interval";
  } else if (pair.change == Change::unsure) {
    pair.reason = "the intervals are too wide to tell";
  } else if (!pair.time->has_interval) {
    pair.reason = fmt::format("by the median: {} no interval", without_interval(base, now));
  }
}

}  // namespace flashbench

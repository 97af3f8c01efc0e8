#include "compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "compare/differences.hpp"
#include "compare/exit_code.hpp"
#include "report/grid.hpp"

namespace flashbench {

namespace {

// Rounding must not turn 1.05 into more than 5 %.
constexpr double slack = 1e-9;

// What two rows must share to be a pair, with what may differ replaced.
std::string meeting_key(const Row& row, bool any_init, bool any_backend, bool any_source) {
  if (!row.recorded_key.empty()) return row.recorded_key;
  Case what = row.what;
  if (any_init) what.problem.init = Init::normal;
  if (any_backend) what.backend = Backend::cpu;
  if (any_source) what.source = "any";
  return key(what);
}

using Index = std::map<std::string, const Row*>;

void count(Comparison& result, Pair pair) {
  ++result.counts[pair.change];
  result.pairs.push_back(std::move(pair));
}

bool broke(const Row& row) {
  return row.status == Status::failed || row.status == Status::crashed ||
         row.status == Status::timeout;
}

// Why a row has no time to compare; empty when it has.
std::string no_time(const char* which, const Row& row) {
  if (row.status != Status::ok && !row.unrecorded.contains("status"))
    return fmt::format("{}: {}{}{}", which, name(row.status), row.reason.empty() ? "" : ": ",
                       row.reason);
  if (!row.time) return fmt::format("{}: no time", which);
  if (!(row.time->median > 0)) return fmt::format("{}: the time is not above zero", which);
  return {};
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

void judge(Pair& pair, const Row& base, const Row& now) {
  pair.base_ms = time_of(base);
  pair.new_ms = time_of(now);
  if (pair.base_ms) pair.base_tflops = base.tflops;
  if (pair.new_ms) pair.new_tflops = now.tflops;
  pair.reason = no_time("base", base);
  if (pair.reason.empty()) pair.reason = no_time("new", now);
  if (!pair.reason.empty()) return;
  pair.time = ratio(*now.time, *base.time);
  if (!pair.time) {
    pair.reason = "an interval is not above zero";
    return;
  }
  if (base.tflops && now.tflops && *base.tflops > 0) pair.tflops = *now.tflops / *base.tflops;
  pair.change = change_of(*pair.time, pair.threshold);
  pair.has_interval = has_interval(*base.time) && has_interval(*now.time);
  if (base.time->n == 1 || now.time->n == 1) {
    pair.change = Change::unsure;
    pair.reason = "a single sample has no interval";
  } else if (pair.change == Change::unsure) {
    pair.reason = "the intervals are too wide to tell";
  } else if (!pair.has_interval) {
    pair.reason = fmt::format("by the median: {} no interval", without_interval(base, now));
  }
}

// Both sets of a row hold the same files.
std::string without_repeats(const std::vector<std::string>& words) {
  const std::set<std::string> distinct(words.begin(), words.end());
  return fmt::format("{}", fmt::join(distinct, " "));
}

bool says_init(const Row& row) {
  return !row.unrecorded.contains("problem/init");
}
bool says_key(const Row& row) {
  return !row.unrecorded.contains("key");
}

// Both rows say what stood in the files that they loaded.
bool are_identified(const Row& base, const Row& now) {
  return !base.inputs_checksum.empty() && !now.inputs_checksum.empty();
}

std::set<std::string> companions(const Row& row) {
  return {row.shared_rounds_with.begin(), row.shared_rounds_with.end()};
}

class Comparer {
 public:
  Comparer(const Report& base, const Report& now, const CompareOptions& options)
      : base_(base), now_(now), options_(options) {
    result_.differing = differing_fields(base, now);
    if (!result_.differing.empty() && !options.allow_different)
      obstacle_ = result_.differing.front();
    result_.warnings = doubts(base, now);
  }

  Comparison run() {
    index_base();
    for (const Row& row : now_.rows) meet(row);
    for (const Row& row : base_.rows) {
      if (met_.count(&row)) continue;
      Pair pair;
      pair.key = shown_key(row);
      pair.change = Change::missing;
      pair.base_ms = time_of(row);
      pair.reason = "only in the base report";
      count(result_, pair);
    }
    finish();
    return std::move(result_);
  }

 private:
  std::string exact(const Row& row) const {
    return meeting_key(row, false, options_.allow_different, options_.across_sources);
  }
  std::string loose(const Row& row) const {
    return meeting_key(row, true, true, options_.across_sources);
  }

  void index_base() {
    for (const Row& row : base_.rows) {
      const auto [place, is_first] = exact_.try_emplace(exact(row), &row);
      if (!is_first) {  // the last one counts
        result_.warnings.push_back("the base report has " + shown_key(row) + " more than once");
        met_.insert(std::exchange(place->second, &row));
      }
      loose_.insert_or_assign(loose(row), &row);
    }
    for (const Row& row : now_.rows) new_keys_.insert(exact(row));
  }

  // The same row, or one that differs only in its inputs and that nothing else claims.
  const Row* partner(const Row& row) const {
    if (const auto same = exact_.find(exact(row)); same != exact_.end()) return same->second;
    const auto near = loose_.find(loose(row));
    if (near == loose_.end() || new_keys_.count(exact(*near->second))) return nullptr;
    return near->second;
  }

  // In what the inputs of these two differ; empty when in nothing that is known.
  std::string other_inputs(const Row& base, const Row& now) {
    const Init before = base.what.problem.init, after = now.what.problem.init;
    if (!says_init(base) || !says_init(now)) {
      if (!says_key(base) || !says_key(now)) ++unknown_inputs_;  // equal keys mean an equal init
      return {};
    }
    if (before != after) return fmt::format("init: {} against {}", name(before), name(after));
    if (before != Init::loaded) return {};
    if (!are_identified(base, now)) ++unknown_inputs_;
    if (!are_identified(base, now) || base.inputs_checksum == now.inputs_checksum) return {};
    return fmt::format("inputs_checksum: {} against {}", without_repeats(base.inputs_checksum),
                       without_repeats(now.inputs_checksum));
  }

  // What forbids to compare these two; empty when nothing does.
  std::string obstacle(const Row& base, const Row& now) {
    const std::string field = other_inputs(base, now);
    if (field.empty()) return obstacle_;
    auto& list = result_.differing;
    if (std::find(list.begin(), list.end(), field) == list.end()) list.push_back(field);
    return options_.allow_different ? std::string() : field;
  }

  Pair judged(const Row& base, const Row& now) {
    Pair pair;
    pair.key = shown_key(now);
    const auto own = options_.thresholds.find(identity(now));
    pair.threshold = own == options_.thresholds.end() ? options_.threshold : own->second;
    pair.reason = obstacle(base, now);
    if (pair.reason.empty()) judge(pair, base, now);
    return pair;
  }

  void meet(const Row& row) {
    const Row* base = partner(row);
    if (base) {
      met_.insert(base);
      count(result_, judged(*base, row));
      if (broke(row) && !broke(*base)) newly_broken_ = true;
      // One run's two builds share its rounds with each other.
      if (!options_.across_sources && companions(*base) != companions(row)) ++unshared_;
      if (base->flops.convention != row.flops.convention && !row.flops.convention.empty() &&
          !base->flops.convention.empty())
        result_.warnings.push_back("FLOPs are counted by another rule: " + shown_key(row));
      return;
    }
    Pair pair;
    pair.key = shown_key(row);
    pair.change = Change::added;
    pair.new_ms = time_of(row);
    pair.reason = "only in the new report";
    count(result_, pair);
  }

  std::size_t counted(Change change) const {
    const auto found = result_.counts.find(change);
    return found == result_.counts.end() ? 0 : found->second;
  }

  void finish() {
    if (unshared_ > 0)
      result_.warnings.push_back(fmt::format(
          "{} of the pairs shared their rounds with other rows than before", unshared_));
    if (unknown_inputs_ > 0)
      result_.warnings.push_back(
          fmt::format("{} of the pairs may have had other inputs: a report does not say which",
                      unknown_inputs_));
    const bool differs = !result_.differing.empty();
    result_.allowed_different = differs && options_.allow_different;
    std::vector<int> codes;
    if (differs && !options_.allow_different) codes.push_back(exit_code::not_comparable);
    if (newly_broken_) codes.push_back(exit_code::failed);
    if (counted(Change::slower) > 0) codes.push_back(exit_code::slower);
    if (counted(Change::slower) + counted(Change::faster) + counted(Change::same) +
            counted(Change::unsure) ==
        0)
      codes.push_back(exit_code::nothing);
    if (options_.strict && fails_strictly()) codes.push_back(exit_code::failed);
    result_.exit_code = worst_exit_code(codes);
  }

  bool fails_strictly() const {
    if (counted(Change::unsure) + counted(Change::missing) + counted(Change::added) > 0)
      return true;
    return std::any_of(now_.rows.begin(), now_.rows.end(), [](const Row& row) {
      return row.status == Status::oom || row.status == Status::unsupported || broke(row);
    });
  }

  const Report& base_;
  const Report& now_;
  const CompareOptions& options_;
  Comparison result_;
  std::string obstacle_;  // what forbids every pair
  Index exact_, loose_;
  std::set<std::string> new_keys_;
  std::set<const Row*> met_;
  std::size_t unshared_ = 0, unknown_inputs_ = 0;
  bool newly_broken_ = false;
};

}  // namespace

Comparison compare(const Report& base, const Report& now, const CompareOptions& options) {
  return Comparer(base, now, options).run();
}

}  // namespace flashbench

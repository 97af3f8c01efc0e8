#include "compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "compare/differences.hpp"
#include "compare/exit_code.hpp"
#include "compare/pairs.hpp"
#include "report/grid.hpp"

namespace flashbench {

namespace {

// What two rows must share to be a pair, with what may differ replaced.
std::string meeting_key(const Row& row, bool any_init, bool any_backend, bool any_source) {
  if (!row.recorded_key.empty()) return row.recorded_key;
  Case what = row.what;
  if (any_init) what.problem.init = Init::normal;
  if (any_backend) what.backend = Backend::cpu;
  if (any_source) what.source = "any";
  return key(what);
}

bool broke(const Row& row) {
  return row.status == Status::failed || row.status == Status::crashed ||
         row.status == Status::timeout;
}

using Index = std::map<std::string, const Row*>;

void count(Comparison& result, Pair pair) {
  ++result.counts[pair.change];
  result.pairs.push_back(std::move(pair));
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
    result_.warnings = doubts(base, now);
  }

  Comparison run() {
    index_base();
    for (const Row& row : now_.rows) meet(row);
    for (const Row& row : base_.rows) {
      if (met_.count(&row)) continue;
      count(result_, single(row, Change::missing));
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

  // What forbids to compare these two, of which either may come from a merged report; empty when
  // nothing does.
  std::string obstacle(const Row& base, const Row& now) {
    std::vector<std::string> fields =
        differing_fields(origin_of(base_, base), origin_of(now_, now));
    if (std::string inputs = other_inputs(base, now); !inputs.empty())
      fields.insert(fields.begin(), std::move(inputs));
    auto& list = result_.differing;
    for (const std::string& field : fields)
      if (std::ranges::find(list, field) == list.end()) list.push_back(field);
    return fields.empty() || options_.allow_different ? std::string() : fields.front();
  }

  Pair judged(const Row& base, const Row& now) {
    Pair pair;
    pair.row = naming(now);
    const auto own = options_.thresholds.find(identity(now));
    pair.threshold = own == options_.thresholds.end() ? options_.threshold : own->second;
    if (const std::string field = obstacle(base, now); !field.empty()) {
      pair.reason = "another " + field.substr(0, field.find(':'));
      return pair;
    }
    judge_pair(pair, base, now);
    if (pair.change == Change::not_comparable) ++unjudged_;
    return pair;
  }

  void meet(const Row& row) {
    const Row* base = partner(row);
    if (broke(row) && !(base && broke(*base))) ++newly_broken_;
    if (base) {
      met_.insert(base);
      count(result_, judged(*base, row));
      // One run's two builds share its rounds with each other.
      if (!options_.across_sources && companions(*base) != companions(row)) ++unshared_;
      if (base->flops.convention != row.flops.convention && !row.flops.convention.empty() &&
          !base->flops.convention.empty())
        result_.warnings.push_back("FLOPs are counted by another rule: " + shown_key(row));
      return;
    }
    count(result_, single(row, Change::added));
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
    note_failures();
    if (!result_.failures.empty()) codes.push_back(exit_code::failed);
    if (result_.counted(Change::slower) > 0) codes.push_back(exit_code::slower);
    if (judged_pairs() == 0) codes.push_back(exit_code::nothing);
    result_.exit_code = worst_exit_code(codes);
  }

  std::size_t judged_pairs() const {
    std::size_t sum = 0;
    for (const Change change : {Change::faster, Change::slower, Change::same, Change::unsure})
      sum += result_.counted(change);
    return sum;
  }

  void note_failures() {
    if (newly_broken_ > 0)
      result_.failures.push_back(
          fmt::format("{} of the new rows failed, crashed or timed out and did not in the base "
                      "report",
                      newly_broken_));
    if (!options_.strict) return;
    std::vector<std::string> kinds;
    const auto add = [&](std::size_t number, std::string_view what) {
      if (number > 0) kinds.push_back(fmt::format("{} {}", number, what));
    };
    for (const Change change :
         {Change::unsure, Change::lost, Change::gained, Change::missing, Change::added})
      add(result_.counted(change), name(change));
    add(unjudged_, name(Change::not_comparable));
    if (!kinds.empty())
      result_.failures.push_back(fmt::format("--strict fails: {}", fmt::join(kinds, ", ")));
  }

  const Report& base_;
  const Report& now_;
  const CompareOptions& options_;
  Comparison result_;
  Index exact_, loose_;
  std::set<std::string> new_keys_;
  std::set<const Row*> met_;
  std::size_t unshared_ = 0, unknown_inputs_ = 0, newly_broken_ = 0;
  std::size_t unjudged_ = 0;  // not comparable, and not because the reports are not
};

}  // namespace

Comparison compare(const Report& base, const Report& now, const CompareOptions& options) {
  return Comparer(base, now, options).run();
}

}  // namespace flashbench

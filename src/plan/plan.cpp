#include "plan/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_set>

#include "plan/dumped.hpp"
#include "plan/glob.hpp"
#include "plan/loaded.hpp"
#include "plan/names.hpp"

namespace flashbench {

namespace {

constexpr std::size_t most_cases = 100000;            // each is asked about: some 10 s
constexpr double most_elements = 9007199254740992.0;  // 2^53: offsets stay exact everywhere

// A case before its autos are resolved.
struct Draft {
  Case what;
  std::int64_t batch = automatic, heads = automatic, kv_heads = automatic, seq_k = automatic;
  std::optional<double> scale;
  bool is_left_out = false;
};

// One axis of the product: how many values, and how the i-th is set.
struct Dimension {
  std::size_t count;
  std::function<void(Draft&, std::size_t)> set;
};

template <class Value, class Set>
Dimension dimension(const std::vector<Value>& given, std::vector<Value> otherwise, Set set) {
  std::vector<Value> values = given.empty() ? std::move(otherwise) : given;
  const std::size_t count = values.size();
  return {count, [values = std::move(values), set](Draft& draft, std::size_t i) {
            set(draft, values[i]);
          }};
}

// Outermost first: what a table groups by, then lengths, passes, implementations.
std::vector<Dimension> dimensions(const Sweep& sweep, const Roster& roster) {
  using Integer = std::int64_t;
  const bool gpu = roster.backend == Backend::cuda;
  return {
      dimension(sweep.dtype, {gpu ? Dtype::fp16 : Dtype::fp32},
                [](Draft& d, Dtype value) { d.what.problem.dtype = value; }),
      dimension(sweep.head_dim, {128}, [](Draft& d, Integer v) { d.what.problem.head_dim = v; }),
      dimension(sweep.mask, {Mask::full}, [](Draft& d, Mask v) { d.what.problem.mask = v; }),
      dimension(sweep.heads, {automatic}, [](Draft& d, Integer v) { d.heads = v; }),
      dimension(sweep.kv_heads, {automatic}, [](Draft& d, Integer v) { d.kv_heads = v; }),
      dimension(sweep.layout, {Layout::bshd},
                [](Draft& d, Layout v) { d.what.problem.layout = v; }),
      dimension(sweep.init, {Init::normal}, [](Draft& d, Init v) { d.what.problem.init = v; }),
      dimension(sweep.scale, {std::nan("")},
                [](Draft& d, double v) {
                  if (!std::isnan(v)) d.scale = v;
                }),
      dimension(sweep.cache, {Cache::cold}, [](Draft& d, Cache v) { d.what.cache = v; }),
      dimension(sweep.batch, {automatic}, [](Draft& d, Integer v) { d.batch = v; }),
      dimension(sweep.seq, {1024, 2048, 4096, 8192},
                [](Draft& d, Integer v) { d.what.problem.seq_q = v; }),
      dimension(sweep.seq_k, {automatic}, [](Draft& d, Integer v) { d.seq_k = v; }),
      dimension(sweep.pass, {Pass::fwd}, [](Draft& d, Pass v) { d.what.pass = v; }),
      dimension(resolve_names(sweep, roster), {},
                [](Draft& d, const NamedImplementation& v) {
                  d.what.impl = v.name;
                  d.what.source = v.source;
                  d.what.backend = v.backend;
                  d.is_left_out = is_left_out(v, d.what.pass);  // passes lie outside of this axis
                }),
  };
}

void check(const Problem& p, const Sweep& sweep) {
  if (p.heads % p.kv_heads != 0)
    throw UsageError(
        fmt::format("{}: {} does not divide {} heads; a divisor of them is needed (or \"auto\")",
                    sweep.called("kv-heads"), p.kv_heads, p.heads));
  const auto elements = [&](std::int64_t heads, std::int64_t seq) {
    return static_cast<double>(p.batch) * static_cast<double>(heads) * static_cast<double>(seq) *
           static_cast<double>(p.head_dim);
  };
  if (std::max(elements(p.heads, p.seq_q), elements(p.heads, p.seq_k)) > most_elements)
    throw UsageError(
        fmt::format("batch {} x heads {} x seq {} and {} x head-dim {}: a tensor would have more "
                    "than 2^53 elements",
                    p.batch, p.heads, p.seq_q, p.seq_k, p.head_dim));
}

Case resolve(const Draft& draft, const Sweep& sweep, bool deterministic) {
  constexpr std::int64_t tokens = 16384, hidden = 2048;  // the field's: Dao's tables use them
  Case what = draft.what;
  Problem& p = what.problem;
  const bool gpu = what.backend == Backend::cuda;
  const auto at_least_one = [](std::int64_t value) { return std::max<std::int64_t>(1, value); };
  p.seq_k = draft.seq_k == automatic ? p.seq_q : draft.seq_k;
  p.heads = draft.heads;
  if (p.heads == automatic) p.heads = gpu ? at_least_one(hidden / p.head_dim) : 1;
  p.kv_heads = draft.kv_heads == automatic ? p.heads : draft.kv_heads;
  p.batch = draft.batch;
  if (p.batch == automatic) p.batch = gpu && p.seq_q > 0 ? at_least_one(tokens / p.seq_q) : 1;
  p.scale = draft.scale.value_or(1 / std::sqrt(static_cast<double>(p.head_dim)));
  p.deterministic = deterministic;
  check(p, sweep);
  return what;
}

// Calls `visit` with every combination, the last dimension fastest.
void product(const std::vector<Dimension>& dimensions, std::size_t depth, Draft& draft,
             const std::function<void(const Draft&)>& visit) {
  if (depth == dimensions.size()) return visit(draft);
  for (std::size_t i = 0; i < dimensions[depth].count; ++i) {
    dimensions[depth].set(draft, i);
    product(dimensions, depth + 1, draft, visit);
  }
}

bool passes_filter(const std::string& filter, const Case& what) {
  return filter.empty() || glob_matches_components(filter, key(what));
}

// Of the first sweep that was to run: none of them has a case.
[[noreturn]] void refuse_globs(const UserRequest& request, Backend backend) {
  const Sweep& sweep =
      *std::ranges::find_if(request.sweeps, [&](const Sweep& one) { return is_for(one, backend); });
  std::vector<std::string_view> passes;
  for (const Pass pass : sweep.pass) passes.push_back(name(pass));
  if (passes.empty()) passes.push_back(name(Pass::fwd));
  throw UsageError(fmt::format("{}: nothing that its globs match has the pass {}",
                               sweep.called("impl"), fmt::join(passes, " or ")));
}

}  // namespace

bool is_for(const Sweep& sweep, Backend backend) {
  return sweep.backend.value_or(backend) == backend;
}

Plan make_plan(const UserRequest& request, const Roster& roster) {
  const Options& options = request.options;
  Plan plan;
  std::unordered_set<std::string> seen;
  if (std::ranges::none_of(request.sweeps,
                           [&](const Sweep& s) { return is_for(s, roster.backend); }))
    throw UsageError(
        fmt::format("none of the config's sweeps is for the backend {}; --device "
                    "chooses another",
                    name(roster.backend)));
  for (const Sweep& given : request.sweeps) {
    if (!is_for(given, roster.backend)) continue;
    Sweep sweep = given;
    if (const auto& loaded = request.loaded)
      sweep = with_dumped_problem(with_loaded_shapes(given, *loaded), *loaded, roster.backend,
                                  plan.notices);
    Draft draft;
    product(dimensions(sweep, roster), 0, draft, [&](const Draft& combination) {
      if (combination.is_left_out) return;
      Case what = resolve(combination, sweep, options.deterministic);
      if (!seen.insert(key(what)).second) return;
      if (seen.size() > most_cases)
        throw UsageError(fmt::format(
            "the sweep has more than {} cases, which is the most that one run takes", most_cases));
      if (passes_filter(options.filter, what)) plan.cases.push_back(std::move(what));
    });
  }
  if (seen.empty()) refuse_globs(request, roster.backend);
  plan.before_filter = seen.size();
  return plan;
}

}  // namespace flashbench

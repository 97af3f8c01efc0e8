#include "estimate/ladder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "estimate/estimate.hpp"
#include "kernels/flash_v1/implementation.hpp"
#include "kernels/flash_v2/implementation.hpp"
#include "kernels/ladder/backward_steps.hpp"

namespace flashbench {

namespace {

constexpr double negligible = 0.01;

// own: what there is to say of v1 and v2 themselves, beside the first and the last rung.
template <class Ladder, class Without>
std::vector<LadderLine> all_lines(const Ladder& ladder, const Without& without,
                                  const std::array<const char*, 2>& own) {
  const kernels::Facts &v1 = kernels::FlashAttention1::facts, &v2 = kernels::FlashAttention2::facts;
  const std::string start = ladder.front().facts.name, end = ladder.back().facts.name;
  std::vector<LadderLine> lines;
  std::string below;
  for (const auto& step : ladder) {
    lines.push_back({step.facts.name, step.facts.idea, step.facts.section, below, true});
    below = step.facts.name;
  }
  lines.push_back({v1.name, own[0], v1.section, start});
  lines.push_back({v2.name, own[1], v2.section, end});
  for (const auto& step : without)
    lines.push_back({step.facts.name, step.facts.idea, step.facts.section, end});
  return lines;
}

std::size_t line_of(const std::string& impl, Pass pass) {
  const auto& lines = ladder_lines(pass);
  return static_cast<std::size_t>(std::ranges::find(lines, impl, &LadderLine::impl) -
                                  lines.begin());
}

std::optional<Ratio> ratio_of(const Row* over, const Row* under) {
  if (!over || !under || over->status != Status::ok || under->status != Status::ok) return {};
  if (!over->time || !under->time) return {};
  return ratio(*over->time, *under->time);
}

// Of the whole way, where it leads anywhere.
std::optional<double> logarithm_of_way(const std::vector<const Row*>& rows, Pass pass) {
  const auto rungs = std::ranges::count(ladder_lines(pass), true, &LadderLine::is_rung);
  const std::optional<Ratio> whole = ratio_of(rows[0], rows[static_cast<std::size_t>(rungs) - 1]);
  if (!whole || !whole->has_interval || (whole->low <= 1 && whole->high >= 1)) return std::nullopt;
  return std::log(whole->value);
}

LadderPlace place_of(std::size_t line, const std::vector<const Row*>& rows, Pass pass) {
  const LadderLine& own = ladder_lines(pass)[line];
  LadderPlace place{own.idea, own.section, own.vs, {}, {}, {}, {}};
  if (own.vs.empty()) return place;
  const std::optional<Ratio> gain = ratio_of(rows[line_of(own.vs, pass)], rows[line]);
  if (!gain) return place;
  place.gain = gain->value;
  if (gain->has_interval) place.low = gain->low, place.high = gain->high;
  if (const std::optional<double> way = logarithm_of_way(rows, pass); way && own.is_rung)
    place.share = std::log(gain->value) / *way;
  return place;
}

}  // namespace

const std::vector<LadderLine>& ladder_lines(Pass pass) {
  static const std::vector<LadderLine> none;
  static const std::vector<LadderLine> forward =
      all_lines(kernels::ladder, kernels::without,
                {"the same at a tile of its own", "the same at a tile of its own"});
  static const std::vector<LadderLine> backward =
      all_lines(kernels::backward_ladder, kernels::backward_without,
                {"v1 itself: the same kernel", "v2 itself: the same kernel"});
  return pass == Pass::fwd ? forward : pass == Pass::bwd ? backward : none;
}

std::vector<LadderRows> ladders_in(const std::vector<Row>& rows) {
  std::vector<LadderRows> ladders;
  std::map<std::string, std::size_t> places;
  for (const bool joining : {false, true})  // v1 and v2 only join what a rung has begun
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Case& what = rows[i].what;
      const std::size_t lines = ladder_lines(what.pass).size();
      const std::size_t line = line_of(what.impl, what.pass);
      if (line == lines || (what.impl.find('/') == std::string::npos) != joining) continue;
      const std::string question =
          problem_key(what) + "/" + std::string(name(what.pass)) + "/" + what.source;
      if (joining && !places.contains(question)) continue;
      const std::size_t at = places.try_emplace(question, ladders.size()).first->second;
      if (at == ladders.size()) ladders.push_back({what.pass, {}});
      ladders[at].rows.resize(lines, LadderRows::none);
      if (ladders[at].rows[line] == LadderRows::none) ladders[at].rows[line] = i;
    }
  return ladders;
}

void add_ladder(std::vector<Row>& rows) {
  for (Row& row : rows) row.ladder.reset();
  for (const LadderRows& ladder : ladders_in(rows)) {
    std::vector<const Row*> found;
    for (const std::size_t i : ladder.rows)
      found.push_back(i == LadderRows::none ? nullptr : &rows[i]);
    for (std::size_t line = 0; line < found.size(); ++line)
      if (found[line]) rows[ladder.rows[line]].ladder = place_of(line, found, ladder.pass);
  }
}

std::optional<Effect> effect_of(const LadderPlace& place) {
  if (!place.gain) return std::nullopt;
  if (!place.low || !place.high) return Effect::unsure;
  const double most = 1 + negligible, least = 1 / most;
  if (*place.gain > most && *place.low > 1) return Effect::gains;
  if (*place.gain < least && *place.high < 1) return Effect::loses;
  return *place.low >= least && *place.high <= most ? Effect::nothing : Effect::unsure;
}

}  // namespace flashbench

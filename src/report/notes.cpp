#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "report/grid.hpp"
#include "report/text.hpp"

namespace flashbench {

namespace {

std::string meaning_of(const std::string& flag) {
  static const std::map<std::string, std::string> all{
      {"power_capped", "the power limit held the clocks down"},
      {"throttled", "the clocks were held down while it ran"},
      {"drift", "it ended more than 5 % slower or faster than it began"},
      {"contended", "another process used the device"},
      {"cpu_bound", "the CPU could not enqueue as fast as the device ran"}};
  const auto found = all.find(flag);
  return found == all.end() ? "" : found->second;
}

std::string short_name(const Row& row, const Report& report) {
  if (row.what.impl.empty()) return shown_key(row);
  const Axis& source = axis_called("source");
  std::string name = row.what.impl;
  for (const std::string& word :
       {is_constant(source, report) ? "" : "source=" + value_of(source, row),
        place_of(row, report)})
    if (!word.empty()) name += " " + word;
  return name;
}

bool is_another_builds(const Row& row) {
  return row.what.source.starts_with("against:") && row.speedup;
}

bool has_flag(const Row& row, const std::string& flag) {
  return std::ranges::find(row.flags, flag) != row.flags.end();
}

// "v2 seq=1024, v2 seq=2048, v1 seq=1024 and 9 more".
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  std::string words;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    words += (i ? ", " : "") + names[i];
  if (names.size() > most) words += fmt::format(" and {} more", names.size() - most);
  return words;
}

std::string drift_note(const Report& report) {
  std::vector<const Row*> rows;
  for (const Row& row : report.rows)
    if (has_flag(row, "drift") && row.drift && std::isfinite(*row.drift)) rows.push_back(&row);
  std::ranges::stable_sort(rows, std::greater{},
                           [](const Row* row) { return std::abs(*row->drift); });
  std::vector<std::string> names;
  for (const Row* row : rows)
    names.push_back(fmt::format("{} {:+.1f} %", short_name(*row, report), 100 * *row->drift));
  return "drift: " + meaning_of("drift") + (names.empty() ? "" : ": " + some_of(names));
}

// Which of its rules ended a row that is imprecise: its budget always, but before what?
std::string missed_rule(const Row& row, const Measurement& measurement) {
  const std::int64_t taken = row.time ? row.time->n : 0;
  if (measurement.min_samples && taken < *measurement.min_samples)
    return fmt::format("the {} samples of --samples were taken", *measurement.min_samples);
  if (row.time && !has_interval(*row.time)) return "there were samples enough for an interval";
  if (!measurement.precision) return "its interval was as narrow as asked";
  return fmt::format("its interval was as narrow as --precision {:g}%",
                     100 * *measurement.precision);
}

std::string early_end(const Row& row, const Measurement& measurement) {
  const auto& budget = measurement.time_budget_s;
  return fmt::format("{} ended it before {}",
                     budget ? fmt::format("--time-budget {:g}", *budget) : "its time budget",
                     missed_rule(row, measurement));
}

// A line a rule.
std::vector<std::string> imprecise_notes(const Report& report) {
  std::map<std::string, std::vector<std::string>> names;
  for (const Row& row : report.rows)
    if (has_flag(row, "imprecise"))
      names[early_end(row, origin_of(report, row).measurement)].push_back(short_name(row, report));
  std::vector<std::string> notes;
  for (const auto& [end, rows] : names)
    notes.push_back("imprecise: " + end + (names.size() > 1 ? ": " + some_of(rows) : ""));
  return notes;
}

std::vector<std::string> flag_notes(const Report& report, const std::string& flag) {
  if (flag == "drift") return {drift_note(report)};
  if (flag == "imprecise") return imprecise_notes(report);
  return {flag + ": " + meaning_of(flag)};
}

std::string device_words(const DeviceFacts& facts) {
  if (facts.name.empty()) return {};
  std::string device = facts.name;
  if (!facts.driver.empty()) device += ", driver " + facts.driver;
  if (!facts.cuda.empty()) device += ", CUDA " + facts.cuda;
  if (facts.peak_tflops) device += fmt::format(", peak {:g} TFLOPS", *facts.peak_tflops);
  if (facts.peak_tflops && !facts.peak_source.empty()) device += " (" + facts.peak_source + ")";
  return one_line(device);
}

// A ceiling is the best that this machine was seen to reach in the run, and no more.
std::string note_of_passed_ceilings(const Report& report) {
  std::vector<std::string> names;
  for (const Row& row : report.rows)
    if (const auto& share = row.utilization.ceiling; share && *share > 1)
      names.push_back(fmt::format("{} {:.0f} %", short_name(row, report), 100 * *share));
  if (names.empty()) return {};
  return "above 100 % of the ceiling: the machine was busier when the ceiling was measured, and "
         "the "
         "share says only that it was reached: " +
         some_of(names);
}

// Unless it is empty or stands there.
void add_caption(std::vector<std::string>& captions, const std::string& caption) {
  if (!caption.empty() && std::ranges::find(captions, caption) == captions.end())
    captions.push_back(caption);
}

}  // namespace

std::vector<std::string> captions_of(const Report& report) {
  std::vector<std::string> captions;
  if (report.rows.empty()) add_caption(captions, device_words(report.device));
  for (const Row& row : report.rows)
    add_caption(captions, device_words(origin_of(report, row).device));
  if (report.rows.empty()) return captions;
  static const std::set<std::string> shown{"impl", "batch", "heads",    "kv-heads",
                                           "seq",  "seq-k", "head-dim", "scale"};
  std::string shared;
  for (const Axis& axis : axes()) {
    if (shown.count(axis.name) || !is_constant(axis, report)) continue;
    const std::string value = value_of(axis, report.rows.front());
    if (value.empty() || (axis.name == "deterministic" && value == "no")) continue;
    if (axis.name == "source" && value == "built-in") continue;
    shared += (shared.empty() ? "" : ", ") + axis.name + " " + value;
  }
  if (!shared.empty()) captions.push_back("all rows: " + one_line(shared));
  std::set<std::string> rules;
  for (const Row& row : report.rows)
    if (!row.flops.convention.empty()) rules.insert(row.flops.convention);
  if (!rules.empty()) captions.push_back(fmt::format("FLOPs counted: {}", fmt::join(rules, ", ")));
  return captions;
}

std::vector<std::string> notes_of(const Report& report) {
  std::vector<std::string> notes;
  std::set<std::string> flags, zeros;
  for (const Row& row : report.rows) {
    flags.insert(row.flags.begin(), row.flags.end());
    const Init init = row.what.problem.init;
    if (init == Init::zeros || init == Init::constant) zeros.insert(std::string(name(init)));
    if (row.deterministic && !*row.deterministic)
      notes.push_back(one_line(short_name(row, report) +
                               ": deterministic: false: repeated runs differ in their last bits"));
    if (row.status == Status::ok || status_of(row).empty()) continue;
    const std::string reason = row.reason.empty() ? "no reason was recorded" : row.reason;
    notes.push_back(
        one_line(short_name(row, report) + ": " + std::string(name(row.status)) + ": " + reason));
  }
  if (std::ranges::any_of(report.rows, is_another_builds))
    notes.emplace_back(
        "against: speed-ups of another build are over this build's row of that name");
  for (const std::string& flag : flags)
    for (const std::string& note : flag_notes(report, flag)) notes.push_back(one_line(note));
  if (const std::string note = note_of_passed_ceilings(report); !note.empty())
    notes.push_back(one_line(note));
  for (const std::string& init : zeros)
    notes.push_back("init " + init + ": draws less power than random data and may run faster");
  if (!recorded(report, "complete", report.complete).value_or(true))
    notes.push_back("incomplete: the run ended before every row was measured");
  return notes;
}

Grid frame_of(const Report& report) {
  return {captions_of(report), {}, {}, findings_of(report), notes_of(report)};
}

}  // namespace flashbench

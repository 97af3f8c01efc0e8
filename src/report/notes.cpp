#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/grid.hpp"
#include "report/text.hpp"

namespace flashbench {

namespace {

const std::map<std::string, std::string>& meanings() {
  static const std::map<std::string, std::string> all{
      {"power_capped", "the power limit held the clocks down"},
      {"throttled", "the clocks were held down while it ran"},
      {"drift", "the last tenth of its samples differs from the first by more than 5 %"},
      {"imprecise", "its time budget ended before its interval was as narrow as asked"},
      {"contended", "another process used the device"},
      {"cpu_bound", "the CPU could not enqueue as fast as the device ran"}};
  return all;
}

std::string short_name(const Row& row, const Report& report) {
  if (row.what.impl.empty()) return shown_key(row);
  const std::string place = place_of(row, report);
  return place.empty() ? row.what.impl : row.what.impl + " " + place;
}

bool is_another_builds(const Row& row) {
  return row.what.source.starts_with("against:") && row.speedup;
}

std::string flag_note(const Report& report, const std::string& flag) {
  const auto meaning = meanings().find(flag);
  std::string note = flag + ": " + (meaning == meanings().end() ? "" : meaning->second);
  if (flag != "drift") return note;
  for (const Row& row : report.rows)
    for (const std::string& each : row.flags)
      if (each == flag && row.drift)
        note += fmt::format("; {}: {:+.1f} %", short_name(row, report), 100 * *row.drift);
  return note;
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
  for (const std::string& flag : flags) notes.push_back(one_line(flag_note(report, flag)));
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

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimate/estimate.hpp"
#include "report/grid.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace flashbench {

namespace {

constexpr std::size_t label_width = 15;

std::string digits(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.7g}", value);
}

bool agree(double one, double other) {
  return std::abs(one - other) <= 1e-9 * std::max(std::abs(one), std::abs(other));
}

struct Formula {
  const char* what;
  std::string arithmetic;  // what makes the value; empty: it stands for itself
  double value = 0;
  const char* unit = "";
  std::string words;
  std::optional<double> said = std::nullopt;  // by the row
};

// The lines of one row.
class Lines {
 public:
  explicit Lines(const std::string& heading) : text_(one_line(heading) + "\n") {}

  void add(const Formula& formula) {
    std::string line = formula.arithmetic;
    if (!line.empty()) line += " = ";
    line += digits(formula.value);
    if (*formula.unit) line += std::string(" ") + formula.unit;
    if (!formula.words.empty()) line += "; " + formula.words;
    if (formula.said && !agree(*formula.said, formula.value))
      line += "; the row says " + digits(*formula.said);
    say(formula.what, line);
  }
  void say(const char* what, const std::string& words) {
    text_ += "  " + pad(what, label_width, false) + "  " + one_line(words) + "\n";
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string joined(const std::vector<std::string>& parts, const char* between) {
  return fmt::format("{}", fmt::join(parts, between));
}

// 4 · batch · heads · pairs · head dim, and how many times that for the pass.
std::string product_of(const Case& what, const std::string& pairs) {
  const Problem& p = what.problem;
  const char* passes = what.pass == Pass::fwd ? "" : what.pass == Pass::bwd ? "2.5 · " : "3.5 · ";
  return fmt::format("{}4 · {} · {} · {} · {}", passes, p.batch, p.heads, pairs, p.head_dim);
}

void add_flops(Lines& lines, const Row& row) {
  if (!says_problem(row)) return;
  const Problem& p = row.what.problem;
  const Flops flops = flashbench::flops(p, row.what.pass);
  const std::string all = fmt::format("{} · {}", p.seq_q, p.seq_k);
  const std::string visible = digits(unmasked_pairs(p));
  const bool half = flops.convention == "causal-half";
  const bool exact = flops.convention == "causal-exact";
  lines.add({"FLOPs counted", product_of(row.what, exact ? visible : all) + (half ? " / 2" : ""),
             flops.counted, "",
             "4 · batch · heads · queries · keys · head dim" +
                 std::string(row.what.pass == Pass::fwd   ? ""
                             : row.what.pass == Pass::bwd ? ", 2.5 times for the backward"
                                                          : ", 3.5 times for both passes") +
                 "; convention " + flops.convention,
             recorded(row, "flops/counted", row.flops.counted)});
  lines.add({"FLOPs exact", product_of(row.what, visible), flops.exact, "",
             "the pairs of a query and a key that it sees",
             recorded(row, "flops/exact", row.flops.exact)});
}

void add_executed(Lines& lines, const Row& row) {
  if (!row.cost) return;
  std::vector<std::string> amounts, kernels;
  double sum = 0;
  for (const KernelCost& kernel : row.cost->kernels) {
    if (!(kernel.flops > 0)) continue;
    amounts.push_back(digits(kernel.flops));
    kernels.push_back(kernel.kernel);
    sum += kernel.flops;
  }
  if (amounts.empty()) return;
  std::string words = "what its tiles multiply: " + joined(kernels, ", ");
  if (row.counts && row.counts->flops > 0)
    words += "; counted while it ran: " + digits(row.counts->flops);
  lines.add({"FLOPs executed", amounts.size() > 1 ? joined(amounts, " + ") : "", sum, "", words});
}

std::string of_samples(const Time& time) {
  return time.n > 0 ? fmt::format("the median of {} samples", time.n) : "a median";
}

void add_time(Lines& lines, const Row& row, const std::optional<double>& peak) {
  const Time& time = *row.time;
  lines.add({"time", "", time.median, "ms",
             time.n == 1 ? "of a single sample, which has no interval"
                         : of_samples(time) + (has_interval(time) ? "" : ", without an interval")});
  if (has_interval(time))
    lines.add({"± %",
               // More digits than elsewhere: the ends differ in the last ones.
               fmt::format("({:.10g} - {:.10g}) / 2 / {} · 100", *time.high, *time.low,
                           digits(time.median)),
               100 * relative_half_width(time), "%",
               "half of the 95 % interval of the median, over the median"});
  const std::optional<double> flops = recorded(row, "flops/counted", row.flops.counted);
  if (!flops || !(*flops > 0)) return;
  const double tflops = *flops / time.median / 1e9;
  lines.add({"TFLOPS", fmt::format("{} / {} / 1e9", digits(*flops), digits(time.median)), tflops,
             "", "FLOPs counted / ms", row.tflops});
  if (!peak || !(*peak > 0)) return;
  const auto& said = row.utilization.peak;
  lines.add({"% of peak", fmt::format("{} / {} · 100", digits(tflops), digits(*peak)),
             100 * tflops / *peak, "%", "of the datasheet's TFLOPS",
             said ? std::optional(100 * *said) : std::nullopt});
}

const char* unit_of(const std::string& resource) {
  return resource == "copy" ? "bytes" : resource == "exp2" ? "exponentials" : "FLOPs";
}

// `said`: by the row, where this is its only kernel.
void add_kernel(Lines& lines, const KernelFloor& kernel, const std::optional<double>& said) {
  std::vector<std::string> quotients, words, unknown;
  for (const FloorTerm& term : kernel.terms) {
    if (!(term.rate > 0)) {
      unknown.push_back(term.resource);
      continue;
    }
    quotients.push_back(fmt::format("{} / {:.7g}", digits(term.amount), term.rate));
    words.push_back(fmt::format("{} at the rate of {}", unit_of(term.resource), term.resource));
  }
  std::string explained = kernel.kernel + ": " + joined(words, ", ");
  if (!unknown.empty()) explained += "; no rate was measured of " + joined(unknown, ", ");
  if (quotients.empty()) return lines.say("floor", "n/a; " + explained);
  const std::string slowest =
      quotients.size() > 1 ? "max(" + joined(quotients, ", ") + ")" : quotients.front();
  lines.add({"floor", slowest + " · 1000", 1e3 * kernel.seconds, "ms",
             explained + "; " + kernel.binds + " binds", said});
}

void add_floors(Lines& lines, const std::vector<KernelFloor>& kernels, const Floor& floor,
                const Utilization& use) {
  const bool several = kernels.size() > 1;
  for (const KernelFloor& kernel : kernels)
    add_kernel(lines, kernel, several ? std::nullopt : use.floor_ms);
  if (several) {
    std::vector<std::string> parts;
    for (const KernelFloor& kernel : kernels) parts.push_back(digits(1e3 * kernel.seconds));
    lines.add({"floor, all", joined(parts, " + "), 1e3 * floor.seconds, "ms",
               floor.binds + " binds most of it", use.floor_ms});
  }
  if (!use.binds.empty() && !floor.binds.empty() && use.binds != floor.binds)
    lines.say("binds", floor.binds + "; the row says " + use.binds);
}

void add_ceiling(Lines& lines, const Report& report, const Row& row) {
  if (!row.cost) return;
  const auto kernels = kernel_floors(row.what.problem, *row.cost, origin_of(report, row).ceilings);
  const Floor floor = floor_of(kernels);
  add_floors(lines, kernels, floor, row.utilization);
  if (row.status != Status::ok || !row.time || floor.binds.empty()) return;
  const double median = row.time->median;
  const auto& said = row.utilization.ceiling;
  lines.add({"% of ceiling",
             fmt::format("{} / {} · 100", digits(1e3 * floor.seconds), digits(median)),
             100 * 1e3 * floor.seconds / median, "%", "floor / time",
             said ? std::optional(100 * *said) : std::nullopt});
  const std::optional<double> bytes = modelled_bytes(row);
  if (floor.binds == "copy" && bytes)
    lines.add({"GB/s", fmt::format("{} / {} / 1e6", digits(*bytes), digits(median)),
               *bytes / median / 1e6, "", "bytes of its kernels by its own model / ms"});
}

// The row that the speed-up is over; null where it is not in the report.
const Row* base_of(const Report& report, const Row& row) {
  for (const Row& other : report.rows) {
    const std::string source = " (" + other.what.source + ")";
    const bool is_named = other.what.source == row.what.source
                              ? row.speedup->vs == other.what.impl
                              : row.speedup->vs == other.what.impl + source;
    if (is_named && other.status == Status::ok && other.time && other.origin == row.origin &&
        other.what.pass == row.what.pass && problem_key(other.what) == problem_key(row.what))
      return &other;
  }
  return nullptr;
}

void add_speedup(Lines& lines, const Report& report, const Row& row) {
  if (!row.speedup) return;
  const Speedup& said = *row.speedup;
  const Row* base = base_of(report, row);
  if (base && identity(*base) == identity(row))
    return lines.say("speed-up x", "1; speed-ups of this problem are over this row");
  const std::optional<Ratio> ratio =
      base ? flashbench::ratio(*base->time, *row.time) : std::nullopt;
  if (!ratio)
    return lines.say("speed-up x",
                     digits(said.value) + "; over " + said.vs + ", whose time is not here");
  const Time &over = *base->time, &under = *row.time;
  lines.add({"speed-up x", digits(over.median) + " / " + digits(under.median), ratio->value, "",
             "the time of " + said.vs + " / its own" +
                 (ratio->has_interval ? "" : "; not both have an interval, so this has none"),
             said.value});
  if (!ratio->has_interval) return;
  const auto log = [](double one, double other) {
    return "ln(" + digits(one) + " / " + digits(other) + ")";
  };
  lines.add({"from",
             fmt::format("{} / exp(hypot({}, {}))", digits(ratio->value),
                         log(over.median, *over.low), log(*under.high, under.median)),
             ratio->low, "", "the low end of its 95 % interval, from those of both times",
             said.low});
  lines.add({"to",
             fmt::format("{} · exp(hypot({}, {}))", digits(ratio->value),
                         log(*over.high, over.median), log(under.median, *under.low)),
             ratio->high, "", "the high end", said.high});
}

void add_errors(Lines& lines, const Row& row) {
  std::vector<std::string> ratios, words;
  double worst = 0;
  for (const TensorCheck& check : row.numerics) {
    if (!check.ratio) continue;
    ratios.push_back(digits(*check.ratio));
    words.push_back(fmt::format("{} {}", check.tensor, name(check.verdict)));
    worst = std::max(worst, *check.ratio);
  }
  if (ratios.empty()) return;
  lines.add({"error ratio", ratios.size() > 1 ? "max(" + joined(ratios, ", ") + ")" : "", worst, "",
             joined(words, ", ") +
                 "; of each tensor the largest error over its bound in any 64-row block: at most 1 "
                 "passes"});
}

void add_memory(Lines& lines, const Row& row) {
  const Memory& memory = row.memory;
  if (!memory.workspace_bytes || !memory.saved_bytes) return;
  const auto bytes = [](std::int64_t count) { return digits(static_cast<double>(count)); };
  std::string words = "workspace and what it saves for the backward";
  if (memory.device_bytes)
    words += "; the device's free memory fell by " + bytes(*memory.device_bytes) + " bytes";
  lines.add({"extra MiB",
             fmt::format("({} + {}) / 1048576", bytes(*memory.workspace_bytes),
                         bytes(*memory.saved_bytes)),
             static_cast<double>(*memory.workspace_bytes + *memory.saved_bytes) / 1048576, "MiB",
             words});
}

}  // namespace

std::string explain(const Report& report, const Row& row) {
  Lines lines(shown_key(row));
  if (row.status != Status::ok)
    lines.say("status", status_of(row) + (row.reason.empty() ? "" : "; " + row.reason));
  add_flops(lines, row);
  add_executed(lines, row);
  const bool timed = row.status == Status::ok && row.time && row.time->median > 0;
  if (timed) add_time(lines, row, origin_of(report, row).device.peak_tflops);
  add_ceiling(lines, report, row);
  if (timed) add_speedup(lines, report, row);
  add_errors(lines, row);
  add_memory(lines, row);
  return as_utf8(lines.text());
}

}  // namespace flashbench

#include "report/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>

#include "estimate/estimate.hpp"
#include "report/text.hpp"
#include "report/views.hpp"

namespace flashbench {

std::optional<double> percent(const std::optional<double>& part) {
  return part ? std::optional(100 * *part) : std::nullopt;
}

namespace {

using FigureOfRow = std::function<std::optional<double>(const Row&)>;
using Words = std::function<std::string(const Row&)>;

Column text_column(const std::string& heading, const Report& report, const Words& words) {
  Column column{heading, false, {}};
  for (const Row& row : report.rows) {
    column.cells.push_back(or_missing(words(row)));
  }
  return column;
}

// Figures of a row's run: none where it is not ok.
Column run_column(const std::string& heading, const Report& report, int digits,
                  const FigureOfRow& figure) {
  std::vector<std::optional<double>> values;
  for (const Row& row : report.rows)
    values.push_back(row.status == Status::ok ? figure(row) : std::nullopt);
  return figures(heading, values, digits);
}

bool any(const Report& report, const std::function<bool(const Row&)>& holds) {
  return std::any_of(report.rows.begin(), report.rows.end(), holds);
}

std::optional<double> gigabytes_per_second(const Row& row) {
  const std::optional<double> bytes = modelled_bytes(row);
  if (!row.time || !bytes || row.utilization.binds != "copy" || !(row.time->median > 0))
    return std::nullopt;
  return *bytes / (row.time->median * 1e-3) / 1e9;
}

std::optional<double> worst_ratio(const Row& row) {
  std::optional<double> worst;
  for (const TensorCheck& check : row.numerics)
    if (check.ratio && (!worst || *check.ratio > *worst)) worst = check.ratio;
  return worst;
}

std::optional<double> extra_mebibytes(const Row& row) {
  if (!row.memory.workspace_bytes || !row.memory.saved_bytes) return std::nullopt;
  return static_cast<double>(*row.memory.workspace_bytes + *row.memory.saved_bytes) / 1048576.0;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// Columns for the shape always, for the rest where rows differ.
void add_axes(Grid& grid, const Report& report) {
  static const std::set<std::string> always{"impl", "batch", "heads",    "kv-heads",
                                            "seq",  "seq-k", "head-dim", "scale"};
  for (const Axis& axis : axes()) {
    if (is_implied(axis, report)) continue;
    const bool wanted = always.count(axis.name) != 0;
    if (!wanted && is_constant(axis, report)) continue;
    Column column =
        text_column(axis.heading, report, [&](const Row& row) { return cell_of(axis, row); });
    column.right = axis.number;
    grid.columns.push_back(std::move(column));
  }
}

void add_run(Grid& grid, const Report& report) {
  auto& columns = grid.columns;
  columns.push_back(run_column("time ms", report, 4, [](const Row& row) {
    return row.time ? std::optional(row.time->median) : std::nullopt;
  }));
  columns.push_back(run_column("± %", report, 2, half_width_percent));
  columns.push_back(run_column("TFLOPS", report, 4, [](const Row& row) { return row.tflops; }));
  if (any(report, [](const Row& row) { return row.utilization.binds == "copy"; }))
    columns.push_back(run_column("GB/s", report, 4, gigabytes_per_second));
  columns.push_back(run_column("% of peak", report, 3,
                               [](const Row& row) { return percent(row.utilization.peak); }));
  columns.push_back(run_column("% of ceiling", report, 3,
                               [](const Row& row) { return percent(row.utilization.ceiling); }));
  columns.push_back(text_column("binds", report, [](const Row& row) {
    return row.status == Status::ok ? row.utilization.binds : std::string();
  }));
  columns.push_back(run_column("speed-up x", report, 3, [](const Row& row) {
    return row.speedup ? std::optional(row.speedup->value) : std::nullopt;
  }));
}

void add_judgement(Grid& grid, const Report& report) {
  std::vector<std::optional<double>> ratios, extra;
  for (const Row& row : report.rows) {
    ratios.push_back(worst_ratio(row));
    extra.push_back(extra_mebibytes(row));
  }
  grid.columns.push_back(figures("error ratio", ratios, 2));
  grid.columns.push_back(text_column("check", report, check_word));
  grid.columns.push_back(figures("extra MiB", extra, 3));
  grid.columns.push_back(text_column("status", report, status_of));
  if (any(report, [](const Row& row) { return !row.flags.empty(); })) {
    grid.columns.push_back(
        text_column("flags", report, [](const Row& row) { return joined(row.flags); }));
    for (std::string& cell : grid.columns.back().cells)
      if (cell == missing) cell = "-";
  }
}

void add_launch(Grid& grid, const Report& report) {
  const auto add = [&](const char* heading, std::optional<std::int64_t> Launch::*member) {
    std::vector<std::optional<double>> values;
    for (const Row& row : report.rows) {
      const Launch* launch = main_launch(row);
      const bool known = launch && launch->*member;
      values.push_back(known ? std::optional(static_cast<double>(*(launch->*member)))
                             : std::nullopt);
    }
    grid.columns.push_back(figures(heading, values, 1));
  };
  add("registers", &Launch::registers);
  add("spilled B", &Launch::spilled_bytes);
  add("shared B", &Launch::shared_bytes);
  add("blocks/SM", &Launch::blocks_per_multiprocessor);
  std::vector<std::optional<double>> waves;
  for (const Row& row : report.rows) {
    const Launch* launch = main_launch(row);
    waves.push_back(launch ? launch->waves : std::nullopt);
  }
  grid.columns.push_back(figures("waves", waves, 3));
}

// Columns that say nothing of any row; one stays, so that rows are lines. Those of no rows stay
// too.
void leave_out_empty_columns(Grid& grid) {
  std::vector<Column> kept;
  for (Column& column : grid.columns)
    if (column.cells.empty() ||
        std::ranges::any_of(column.cells, [](const std::string& cell) { return cell != missing; }))
      kept.push_back(std::move(column));
  if (!kept.empty()) grid.columns = std::move(kept);
}

}  // namespace

std::optional<double> half_width_percent(const Row& row) {
  if (!row.time || !has_interval(*row.time) || !(row.time->median > 0)) return std::nullopt;
  return 100 * relative_half_width(*row.time);
}

std::string check_word(const Row& row) {
  bool passed = false;
  for (const TensorCheck& check : row.numerics) {
    if (check.verdict == Verdict::fail) return "fail";
    passed = passed || check.verdict == Verdict::pass;
  }
  return passed ? "pass" : "";
}

const Launch* main_launch(const Row& row) {
  const auto heaviest = std::max_element(
      row.launches.begin(), row.launches.end(), [](const Launch& one, const Launch& other) {
        return one.registers.value_or(0) < other.registers.value_or(0);
      });
  return heaviest == row.launches.end() ? nullptr : &*heaviest;
}

std::string or_missing(const std::string& text) {
  const std::string line = one_line(text);
  return line.empty() ? missing : line;
}

Column figures(const std::string& heading, const std::vector<std::optional<double>>& values,
               int digits) {
  double smallest = 0;
  for (const auto& value : values)
    if (value && std::isfinite(*value) && *value != 0 &&
        (smallest == 0 || std::abs(*value) < smallest))
      smallest = std::abs(*value);
  const int magnitude = smallest > 0 ? static_cast<int>(std::floor(std::log10(smallest))) : 0;
  const int decimals = std::clamp(digits - 1 - magnitude, 0, 6);
  Column column{heading, true, {}};
  constexpr double widest = 1e12;  // beyond it only the magnitude tells anything
  for (const auto& value : values) {
    if (!value || !std::isfinite(*value))
      column.cells.emplace_back(missing);
    else if (std::abs(*value) < widest)
      column.cells.push_back(fmt::format("{:.{}f}", *value, decimals));
    else
      column.cells.push_back(fmt::format("{:.{}g}", *value, digits));
  }
  return column;
}

Grid make_grid(const Report& report, const TableOptions& options) {
  if (!options.pivot.empty()) return make_pivot(report, options);
  if (const View* view = find_view(options.view.empty() ? report.view : options.view))
    return view->grid(report);
  Grid grid = frame_of(report);
  for (const Row& row : report.rows) grid.statuses.push_back(row.status);
  const auto label_of = [&](const Row& row) {
    return row.label.empty() ? report.label : row.label;
  };
  if (has_several_devices(report))
    grid.columns.push_back(
        text_column("device", report, [&](const Row& row) { return device_of(row, report); }));
  if (any(report, [&](const Row& row) { return !label_of(row).empty(); }))
    grid.columns.push_back(text_column("label", report, label_of));
  add_axes(grid, report);
  add_run(grid, report);
  add_judgement(grid, report);
  if (options.wide) add_launch(grid, report);
  add_counters(grid, report);
  leave_out_empty_columns(grid);
  return grid;
}

namespace {

// Those of the rows, on the ladder and not.
std::vector<Grid> row_grids(const Report& report, const TableOptions& options) {
  const bool on_a_ladder = any(report, [](const Row& row) { return row.ladder.has_value(); });
  if (!on_a_ladder || !options.pivot.empty()) return {make_grid(report, options)};
  Report ladders = report, rest = report;
  std::erase_if(ladders.rows, [](const Row& row) { return !row.ladder; });
  std::erase_if(rest.rows, [](const Row& row) { return row.ladder.has_value(); });
  std::vector<Grid> grids;
  std::vector<std::string> shared = captions_of(ladders);
  if (!rest.rows.empty()) {
    grids.push_back(make_grid(rest, options));
    ladders.complete = true;  // that table says it if it is not so, and much that they share
    std::erase_if(shared, [&](const std::string& caption) {
      return std::ranges::find(grids.front().captions, caption) != grids.front().captions.end();
    });
  }
  std::vector<Grid> walks = make_ladder_grids(ladders);
  walks.front().captions.insert(walks.front().captions.begin(), shared.begin(), shared.end());
  std::ranges::move(walks, std::back_inserter(grids));
  return grids;
}

}  // namespace

std::vector<Grid> make_grids(const Report& report, const TableOptions& options) {
  std::vector<Grid> grids = row_grids(report, options);
  const bool is_a_view = find_view(options.view.empty() ? report.view : options.view) != nullptr;
  if (options.pivot.empty() && !is_a_view && asked_for_counters(report))
    grids.push_back(traffic_table(report));
  return grids;
}

}  // namespace flashbench

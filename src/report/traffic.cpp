// The traffic of a row in three ways: by the formula of each operand, as a CPU implementation
// counted it, and by a GPU's hardware counters, which know levels of memory and no operands.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "record/hardware_counters.hpp"
#include "report/text.hpp"
#include "report/views.hpp"

namespace flashbench {

namespace {

using Figure = std::optional<double>;

constexpr double megabyte = 1e6;

// In the order of the document's table 6.2, then those of the backward.
constexpr std::pair<const char*, const char*> operands[] = {{"q", "Q"},
                                                            {"k", "K"},
                                                            {"v", "V"},
                                                            {"o", "O"},
                                                            {"statistics", "statistics"},
                                                            {"scores", "S and P"},
                                                            {"do", "dO"},
                                                            {"dq", "dQ"},
                                                            {"dk", "dK"},
                                                            {"dv", "dV"}};

// Bytes by who says so.
struct Said {
  Figure formula, counted, hardware;
};

// Of one row: an operand, all of them (between L2 and the multiprocessors), or DRAM.
struct Flow {
  const Row* row;
  std::string what;
  Said read, written;
};

Figure metric(const Row& row, const char* name) {
  const auto found = row.measured.find(name);
  return found == row.measured.end() ? std::nullopt : found->second;
}

void add(Figure& sum, double bytes) {
  sum = sum.value_or(0) + bytes;
}

void add(Flow& flow, const Flow& more) {
  const auto add_to = [](Figure& sum, const Figure& bytes) {
    if (bytes) add(sum, *bytes);
  };
  add_to(flow.read.formula, more.read.formula);
  add_to(flow.read.counted, more.read.counted);
  add_to(flow.written.formula, more.written.formula);
  add_to(flow.written.counted, more.written.counted);
}

Flow flow_of(const Row& row, const std::string& operand, const char* shown) {
  Flow flow{&row, shown, {}, {}};
  const auto take = [&](const std::map<std::string, double>& bytes, Figure& sum) {
    const auto found = bytes.find(operand);
    if (found != bytes.end() && found->second > 0) add(sum, found->second);
  };
  if (row.cost)
    for (const KernelCost& kernel : row.cost->kernels) {
      take(kernel.traffic.read, flow.read.formula);
      take(kernel.traffic.written, flow.written.formula);
    }
  if (row.counts) {
    take(row.counts->traffic.read, flow.read.counted);
    take(row.counts->traffic.written, flow.written.counted);
  }
  return flow;
}

bool says_something(const Flow& flow) {
  for (const Said* said : {&flow.read, &flow.written})
    if (said->formula || said->counted || said->hardware) return true;
  return false;
}

void add_flows(std::vector<Flow>& flows, const Row& row) {
  Flow all{&row, "all, L2 to SM", {}, {}}, dram{&row, "all, DRAM to L2", {}, {}};
  for (const auto& [operand, shown] : operands) {
    const Flow flow = flow_of(row, operand, shown);
    if (says_something(flow)) flows.push_back(flow);
    add(all, flow);
  }
  all.read.hardware = metric(row, counters::l2_read);
  all.written.hardware = metric(row, counters::l2_written);
  dram.read.hardware = metric(row, counters::dram_read);
  dram.written.hardware = metric(row, counters::dram_written);
  if (row.what.backend == Backend::cpu) all.what = "all";
  flows.push_back(all);
  if (says_something(dram)) flows.push_back(dram);
}

void add_column(Grid& grid, const std::vector<Flow>& flows, const char* heading, Said Flow::*way,
                Figure Said::*who) {
  std::vector<Figure> values;
  bool any = false;
  for (const Flow& flow : flows) {
    const Figure& bytes = flow.*way.*who;
    values.push_back(bytes ? Figure(*bytes / megabyte) : std::nullopt);
    any = any || bytes;
  }
  if (any) grid.columns.push_back(figures(heading, values, 3));
}

Figure sum_of(const Row& row, const char* one, const char* other) {
  const Figure first = metric(row, one), second = metric(row, other);
  return first && second ? Figure((*first + *second) / megabyte) : std::nullopt;
}

Figure conflict_percent(const Row& row) {
  const Figure conflicts = metric(row, counters::bank_conflicts);
  const Figure all = metric(row, counters::shared_wavefronts);
  if (!conflicts || !all) return std::nullopt;
  return *all > 0 ? 100 * *conflicts / *all : 0;
}

Figure shared_megabytes(const Row& row) {
  const Figure wavefronts = metric(row, counters::shared_wavefronts);
  return wavefronts ? Figure(*wavefronts * counters::shared_wavefront_bytes / megabyte)
                    : std::nullopt;
}

// The few words before the colon.
std::string outcome_of(const Row& row) {
  if (row.uncounted.empty()) return row.measured.empty() ? "" : "read";
  return row.uncounted.substr(0, row.uncounted.find(": "));
}

template <class Value>
void add_counter(Grid& grid, const Report& report, const char* heading, const Value& value) {
  std::vector<Figure> values;
  for (const Row& row : report.rows) values.push_back(value(row));
  grid.columns.push_back(figures(heading, values, 3));
}

}  // namespace

bool asked_for_counters(const Report& report) {
  return std::ranges::any_of(
      report.rows, [](const Row& row) { return !row.measured.empty() || !row.uncounted.empty(); });
}

void add_counters(Grid& grid, const Report& report) {
  if (!asked_for_counters(report)) return;
  add_counter(grid, report, "DRAM MB", [](const Row& row) {
    return sum_of(row, counters::dram_read, counters::dram_written);
  });
  add_counter(grid, report, "L2 to SM MB",
              [](const Row& row) { return sum_of(row, counters::l2_read, counters::l2_written); });
  add_counter(grid, report, "tensor %",
              [](const Row& row) { return metric(row, counters::tensor_percent); });
  add_counter(grid, report, "shared MB", shared_megabytes);
  add_counter(grid, report, "conflicts %", conflict_percent);
  add_counter(grid, report, "barrier %",
              [](const Row& row) { return metric(row, counters::barrier_percent); });
  std::set<std::string> reasons;
  Column& outcome = grid.columns.emplace_back(Column{"counters", false, {}});
  for (const Row& row : report.rows) {
    outcome.cells.push_back(or_missing(outcome_of(row)));
    if (!row.uncounted.empty() && reasons.insert(row.uncounted).second)
      grid.notes.push_back(one_line("no hardware counters: " + row.uncounted));
  }
}

Grid traffic_table(const Report& report) {
  std::vector<Flow> flows;
  for (const Row& row : report.rows)
    if (row.status == Status::ok && !row.what.source.starts_with("against:")) add_flows(flows, row);
  Grid grid;
  grid.captions.emplace_back(
      "traffic of one run, MB (10^6 bytes). formula: bytes that its tiles move, by its own model; "
      "counted: by the CPU implementation while it ran; hardware: by the GPU's counters");
  std::vector<Line> lines;
  Column implementation{"implementation", false, {}}, what{"operand", false, {}};
  for (const Flow& flow : flows) {
    lines.push_back({flow.row});
    grid.statuses.push_back(flow.row->status);
    implementation.cells.push_back(or_missing(flow.row->what.impl));
    what.cells.push_back(flow.what);
  }
  grid.columns.push_back(std::move(implementation));
  add_axis_columns(grid, report, lines, {"impl"});
  grid.columns.push_back(std::move(what));
  add_column(grid, flows, "read: formula", &Flow::read, &Said::formula);
  add_column(grid, flows, "read: counted", &Flow::read, &Said::counted);
  add_column(grid, flows, "read: hardware", &Flow::read, &Said::hardware);
  add_column(grid, flows, "written: formula", &Flow::written, &Said::formula);
  add_column(grid, flows, "written: counted", &Flow::written, &Said::counted);
  add_column(grid, flows, "written: hardware", &Flow::written, &Said::hardware);
  return grid;
}

Grid traffic_view(const Report& report) {
  Grid grid = frame_of(report), table = traffic_table(report);
  std::ranges::move(table.captions, std::back_inserter(grid.captions));
  grid.columns = std::move(table.columns);
  grid.statuses = std::move(table.statuses);
  return grid;
}

}  // namespace flashbench

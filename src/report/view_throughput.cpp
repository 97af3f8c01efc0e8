// The document's 8.1.
#include <fmt/format.h>

#include "estimate/estimate.hpp"
#include "record/document.hpp"
#include "report/views.hpp"

namespace flashbench {

namespace {

using Figure = std::optional<double>;
const std::set<std::string> of_rivals{"impl", "source"};

const Row* measured(const Line& line, const char* impl) {
  const Row* row = row_of(line, impl);
  return row && row->status == Status::ok ? row : nullptr;
}

std::optional<Ratio> v2_over_v1(const Line& line) {
  const Row *v1 = measured(line, "v1"), *v2 = measured(line, "v2");
  return v1 && v2 && v1->time && v2->time ? ratio(*v1->time, *v2->time) : std::nullopt;
}

// The document names no shape; what it does name, the length, has to be the line's.
const document::Throughput* documented_throughput(const Line& line) {
  const Problem& problem = line.front()->what.problem;
  if (line.front()->what.pass != Pass::fwd || problem.seq_k != problem.seq_q) return nullptr;
  for (const document::Throughput& each : document::throughput)
    if (each.seq == problem.seq_q) return &each;
  return nullptr;
}

template <class Value>
void add(Grid& grid, const std::vector<Line>& lines, const std::string& heading, int digits,
         const Value& value) {
  std::vector<Figure> values;
  for (const Line& line : lines) values.push_back(value(line));
  grid.columns.push_back(figures(heading, values, digits));
}

void add_measured(Grid& grid, const std::vector<Line>& lines) {
  for (const char* impl : {"v1", "v2"}) {
    const auto of = [&](const auto& value) {
      return [=](const Line& line) {
        const Row* row = measured(line, impl);
        return row ? value(*row) : Figure{};
      };
    };
    const std::string name = impl;
    add(grid, lines, name + " TFLOPS", 4, of([](const Row& row) { return row.tflops; }));
    add(grid, lines, name + " % of peak", 3,
        of([](const Row& row) { return percent(row.utilization.peak); }));
    add(grid, lines, name + " % of ceiling", 3,
        of([](const Row& row) { return percent(row.utilization.ceiling); }));
  }
  add(grid, lines, "v2 / v1", 3, [](const Line& line) {
    const auto factor = v2_over_v1(line);
    return factor ? Figure(factor->value) : std::nullopt;
  });
  Column& interval = grid.columns.emplace_back(Column{"95 % interval", true, {}});
  for (const Line& line : lines) {
    const auto factor = v2_over_v1(line);
    const bool known = factor && factor->has_interval;
    interval.cells.push_back(known ? fmt::format("{:.2f}-{:.2f}", factor->low, factor->high)
                                   : missing);
  }
}

void add_documents(Grid& grid, const std::vector<Line>& lines) {
  const auto of = [](auto value) {
    return [value](const Line& line) {
      const document::Throughput* each = documented_throughput(line);
      return each ? Figure(value(*each)) : std::nullopt;
    };
  };
  const std::string label = "document (A100) ";
  using Documents = document::Throughput;
  add(grid, lines, label + "v1 TFLOPS", 3, of([](const Documents& d) { return d.v1_tflops; }));
  add(grid, lines, label + "v1 %", 3,
      of([](const Documents& d) { return 100 * d.v1_tflops / document::a100_peak_tflops; }));
  add(grid, lines, label + "v2 TFLOPS", 3, of([](const Documents& d) { return d.v2_tflops; }));
  add(grid, lines, label + "v2 %", 2,
      of([](const Documents& d) { return 100 * d.v2_utilization; }));
  add(grid, lines, label + "v2 / v1", 3,
      of([](const Documents& d) { return d.v2_tflops / d.v1_tflops; }));
}

}  // namespace

Grid throughput_view(const Report& report) {
  const std::vector<Line> lines = lines_by_axes(report, of_rivals);
  Grid grid = grid_of(report, lines);
  grid.captions.push_back(fmt::format(
      "document (A100): section 8.1, which names neither batch, heads, head dimension, mask nor "
      "pass. Its V1 column is {:.0f} to {:.0f} % of {:g} TFLOPS; by its 1.1 V1 reaches {:.0f} to "
      "{:.0f} %",
      100 * document::throughput.front().v1_tflops / document::a100_peak_tflops,
      100 * document::throughput[2].v1_tflops / document::a100_peak_tflops,
      document::a100_peak_tflops, 100 * document::v1_utilization.low,
      100 * document::v1_utilization.high));
  add_axis_columns(grid, report, lines, of_rivals);
  add_measured(grid, lines);
  add_documents(grid, lines);
  return grid;
}

}  // namespace flashbench

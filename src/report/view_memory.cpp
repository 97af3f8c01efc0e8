// The document's 8.3.
#include <algorithm>

#include "record/document.hpp"
#include "report/views.hpp"

namespace flashbench {

namespace {

using Figure = std::optional<double>;

Figure mebibytes(const std::optional<std::int64_t>& bytes) {
  return bytes ? Figure(static_cast<double>(*bytes) / 1048576) : std::nullopt;
}

bool trains(const Row& row) {
  return row.what.pass != Pass::fwd;
}

// What the algorithm cannot do without: standard attention P, and dP for the backward, in the
// dtype; V2 its logsumexp, and for the backward D and, where dQ has 16 bits, dQ's fp32 sum.
Figure modelled(const Row& row) {
  const Problem& p = row.what.problem;
  const bool wide = p.dtype == Dtype::fp32;
  const double rows = static_cast<double>(p.batch * p.heads) * static_cast<double>(p.seq_q);
  const double matrix = rows * static_cast<double>(p.seq_k) * (wide ? 4 : 2);
  if (row.what.impl == "naive") return (trains(row) ? 2 : 1) * matrix / 1048576;
  if (row.what.impl != "v2") return std::nullopt;
  const double gradient = 4 + (wide ? 0 : 4 * static_cast<double>(p.head_dim));
  return rows * (4 + (trains(row) ? gradient : 0)) / 1048576;
}

Figure declared(const Row& row) {
  if (!row.memory.workspace_bytes || !row.memory.saved_bytes) return std::nullopt;
  return mebibytes(*row.memory.workspace_bytes + *row.memory.saved_bytes);
}

Figure documents(const Row& row) {
  const auto* found =
      std::ranges::find(document::memory, row.what.problem.seq_q, &document::Memory::seq);
  if (!trains(row) || found == document::memory.end()) return std::nullopt;
  if (row.what.impl == "naive") return found->standard_mib;
  return row.what.impl == "v2" ? Figure(found->v2_mib) : std::nullopt;
}

template <class Value>
void add(Grid& grid, const std::vector<Line>& lines, const char* heading, const Value& value) {
  std::vector<Figure> values;
  for (const Line& line : lines) values.push_back(value(*line.front()));
  grid.columns.push_back(figures(heading, values, 3));
}

}  // namespace

Grid memory_view(const Report& report) {
  const std::vector<Line> lines = lines_by_axes(report, {});
  Grid grid = grid_of(report, lines);
  grid.captions.emplace_back(
      "memory beyond inputs and outputs. modelled: standard attention (naive) P and dP in the "
      "dtype, v2 L, D and the fp32 sum of a 16-bit dQ; declared: by the implementation; device: "
      "seen there, in "
      "steps of 2 MiB");
  grid.captions.emplace_back(
      "document: section 8.3, an estimate for a \"rough multi-head config\" that it does not name");
  Column& impl = grid.columns.emplace_back(Column{"implementation", false, {}});
  for (const Line& line : lines) impl.cells.push_back(or_missing(line.front()->what.impl));
  add_axis_columns(grid, report, lines, {"impl", "source"});
  add(grid, lines, "modelled MiB", modelled);
  add(grid, lines, "declared MiB", declared);
  add(grid, lines, "device MiB", [](const Row& row) { return mebibytes(row.memory.device_bytes); });
  add(grid, lines, "asked for MiB",
      [](const Row& row) { return mebibytes(row.memory.needed_bytes); });
  add(grid, lines, "document MiB", documents);
  Column& status = grid.columns.emplace_back(Column{"status", false, {}});
  for (const Line& line : lines) status.cells.emplace_back(name(worst_status(line)));
  return grid;
}

}  // namespace flashbench

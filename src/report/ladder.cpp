#include "estimate/ladder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/grid.hpp"
#include "report/ladder_words.hpp"

namespace flashbench {

namespace {

// A line of a table: a row, or a rung that is not among the rows.
struct Entry {
  const LadderLine* line;
  const Row* row;  // may be null
};

std::vector<Entry> entries_of(const LadderRows& ladder, const Report& report) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < ladder.rows.size(); ++i) {
    const LadderLine& line = ladder_lines()[i];
    if (ladder.rows[i] != LadderRows::none)
      entries.push_back({&line, &report.rows[ladder.rows[i]]});
    else if (line.is_rung)
      entries.push_back({&line, nullptr});
  }
  return entries;
}

const Row& first_row(const LadderRows& ladder, const Report& report) {
  const auto at =
      std::ranges::find_if(ladder.rows, [](std::size_t i) { return i != LadderRows::none; });
  return report.rows[*at];
}

class Table {
 public:
  Table(Grid& grid, const std::vector<Entry>& entries) : grid_(grid), entries_(entries) {}

  template <class F>
  void words(const std::string& heading, const F& word_of) {
    Column column{heading, false, {}};
    for (const Entry& entry : entries_) column.cells.push_back(or_missing(word_of(entry)));
    grid_.columns.push_back(std::move(column));
  }
  // With as many decimals as the smallest needs.
  template <class F>
  void numbers(const std::string& heading, int digits, const F& figure) {
    std::vector<std::optional<double>> values;
    for (const Entry& entry : entries_)
      values.push_back(entry.row ? figure(*entry.row) : std::optional<double>());
    grid_.columns.push_back(figures(heading, values, digits));
  }
  template <class F>
  void decimals(const std::string& heading, int decimals, const F& figure) {
    Column column{heading, true, {}};
    for (const Entry& entry : entries_) {
      const std::optional<double> value = entry.row ? figure(*entry.row) : std::nullopt;
      column.cells.push_back(value ? fmt::format("{:.{}f}", *value, decimals) : missing);
    }
    grid_.columns.push_back(std::move(column));
  }

 private:
  Grid& grid_;
  const std::vector<Entry>& entries_;
};

std::optional<double> scaled(std::optional<double> value, double factor) {
  return value ? std::optional(*value * factor) : std::nullopt;
}

auto place(std::optional<double> LadderPlace::*member, double factor = 1) {
  return [=](const Row& row) {
    return row.ladder ? scaled(*row.ladder.*member, factor) : std::nullopt;
  };
}

auto launch(std::optional<std::int64_t> Launch::*member) {
  return [=](const Row& row) -> std::optional<double> {
    const Launch* main = main_launch(row);
    return main && main->*member ? std::optional(static_cast<double>(*(main->*member)))
                                 : std::nullopt;
  };
}

void add_columns(Table& table) {
  const auto measured = [](const Row& row) { return row.status == Status::ok; };
  table.words("implementation", [](const Entry& entry) { return entry.line->impl; });
  table.words("idea", [](const Entry& entry) { return entry.line->idea; });
  table.words("section", [](const Entry& entry) { return entry.line->section; });
  table.numbers("TFLOPS", 4,
                [&](const Row& row) { return measured(row) ? row.tflops : std::nullopt; });
  table.decimals("± %", 2, [&](const Row& row) {
    return measured(row) ? half_width_percent(row) : std::nullopt;
  });
  table.decimals("gain x", 3, place(&LadderPlace::gain));
  table.decimals("low", 3, place(&LadderPlace::low));
  table.decimals("high", 3, place(&LadderPlace::high));
  table.words("over", [](const Entry& entry) { return entry.line->vs; });
  table.decimals("% of way", 1, place(&LadderPlace::share, 100));
  table.numbers("registers", 1, launch(&Launch::registers));
  table.numbers("spilled B", 1, launch(&Launch::spilled_bytes));
  table.numbers("shared B", 1, launch(&Launch::shared_bytes));
  table.numbers("blocks/SM", 1, launch(&Launch::blocks_per_multiprocessor));
  table.numbers("executed GFLOP", 4,
                [](const Row& row) { return scaled(executed_flops(row), 1e-9); });
  table.numbers("O MB", 4, [](const Row& row) { return scaled(modelled_bytes(row, "o"), 1e-6); });
  table.words("check", [](const Entry& entry) {
    return entry.row ? check_word(*entry.row) : std::string();
  });
  table.words("status", [](const Entry& entry) {
    return entry.row ? status_of(*entry.row) : std::string("missing");
  });
  table.words("flags", [](const Entry& entry) {
    const auto flags = entry.row ? entry.row->flags : std::vector<std::string>();
    return flags.empty() ? std::string("-") : fmt::format("{}", fmt::join(flags, " "));
  });
}

bool is_of_the_problem(const Axis& axis) {
  return axis.name != "impl" && axis.name != "deterministic";
}

// "batch 16, heads 32, seq 1024, head dim 64, mask full": the shape, and what differs between the
// problems of the report.
std::string title_of(const Row& row, const Report& report) {
  static const std::set<std::string> always{"batch", "heads", "seq", "head-dim"};
  std::string title;
  for (const Axis& axis : axes()) {
    if (!is_of_the_problem(axis) || is_implied(axis, report)) continue;
    if (!always.contains(axis.name) && is_constant(axis, report)) continue;
    title += (title.empty() ? "" : ", ") + axis.heading + " " + or_missing(value_of(axis, row));
  }
  return title;
}

Grid grid_of(const LadderRows& ladder, const Report& report, bool last) {
  const std::vector<Entry> entries = entries_of(ladder, report);
  Report part = report;
  part.rows.clear();
  part.complete = report.complete || !last;
  Grid grid;
  for (const Entry& entry : entries) {
    grid.statuses.push_back(entry.row ? entry.row->status : Status::not_run);
    if (entry.row) part.rows.push_back(*entry.row);
  }
  Table table(grid, entries);
  add_columns(table);
  grid.captions = {"The way from V1 to V2: " + title_of(first_row(ladder, report), report)};
  grid.notes = words_of(ladder, report.rows, report.device.name);
  for (std::string& note : notes_of(part)) grid.notes.push_back(std::move(note));
  return grid;
}

// A heading for each problem, in the short forms of keys: "b16 h32 q1024 d64 full".
std::string short_title(const Row& row, const Report& report) {
  static const std::map<std::string, std::string> letters{{"batch", "b"},     {"heads", "h"},
                                                          {"kv-heads", "kv"}, {"seq", "q"},
                                                          {"seq-k", "k"},     {"head-dim", "d"}};
  std::string title;
  for (const Axis& axis : axes()) {
    if (!is_of_the_problem(axis) || is_implied(axis, report) || is_constant(axis, report)) continue;
    const auto letter = letters.find(axis.name);
    title += (title.empty() ? "" : " ") + (letter == letters.end() ? "" : letter->second) +
             or_missing(value_of(axis, row));
  }
  return title;
}

// What each idea brings, problem beside problem.
Grid overview_of(const std::vector<LadderRows>& ladders, const Report& report) {
  Grid grid;
  grid.captions = {"Gain x over the line named, problem beside problem"};
  Column impl{"implementation", false, {}}, over{"over", false, {}};
  for (const LadderLine& line : ladder_lines()) {
    if (line.vs.empty()) continue;
    impl.cells.push_back(line.impl);
    over.cells.push_back(line.vs);
    grid.statuses.push_back(Status::ok);
  }
  grid.columns = {impl, over};
  for (const LadderRows& ladder : ladders) {
    Column column{short_title(first_row(ladder, report), report), true, {}};
    for (std::size_t i = 0; i < ladder.rows.size(); ++i) {
      if (ladder_lines()[i].vs.empty()) continue;
      const Row* row = ladder.rows[i] == LadderRows::none ? nullptr : &report.rows[ladder.rows[i]];
      const bool known = row && row->ladder && row->ladder->gain;
      column.cells.push_back(known ? fmt::format("{:.3f}", *row->ladder->gain) : missing);
    }
    grid.columns.push_back(std::move(column));
  }
  return grid;
}

}  // namespace

std::vector<Grid> make_ladder_grids(const Report& report) {
  const std::vector<LadderRows> ladders = ladders_in(report.rows);
  std::vector<Grid> grids;
  for (const LadderRows& ladder : ladders)
    grids.push_back(grid_of(ladder, report, &ladder == &ladders.back()));
  if (ladders.size() > 1) grids.push_back(overview_of(ladders, report));
  return grids;
}

}  // namespace flashbench

#include <fmt/format.h>

#include <cmath>

#include "record/hardware_counters.hpp"
#include "report/grid.hpp"
#include "report/report.hpp"
#include "report/text.hpp"

namespace flashbench {

namespace {

// One record of RFC 4180, built a field at a time; headings and fields come from the same calls.
class Record {
 public:
  explicit Record(bool headings) : headings_(headings) {}

  void text(const char* heading, const std::string& value) { field(headings_ ? heading : value); }
  // As many digits as give the same double back; empty when there is none.
  void number(const char* heading, const std::optional<double>& value) {
    text(heading, value && std::isfinite(*value) ? fmt::format("{}", *value) : std::string());
  }
  void integer(const char* heading, const std::optional<std::int64_t>& value) {
    text(heading, value ? std::to_string(*value) : std::string());
  }
  std::string line() const { return line_ + "\r\n"; }

 private:
  void field(const std::string& value) {
    if (!first_) line_ += ',';
    first_ = false;
    if (value.find_first_of(",\"\r\n") == std::string::npos) {
      line_ += value;
      return;
    }
    line_ += '"';
    for (const char c : value) line_ += c == '"' ? std::string("\"\"") : std::string(1, c);
    line_ += '"';
  }

  std::string line_;
  bool headings_, first_ = true;
};

// In the order of their fields.
constexpr std::pair<const char*, const char*> axis_fields[] = {
    {"impl", "impl"},   {"pass", "pass"},   {"source", "source"},     {"backend", "backend"},
    {"cache", "cache"}, {"batch", "batch"}, {"heads", "heads"},       {"kv_heads", "kv-heads"},
    {"seq_q", "seq"},   {"seq_k", "seq-k"}, {"head_dim", "head-dim"}, {"dtype", "dtype"},
    {"mask", "mask"},   {"scale", "scale"}, {"layout", "layout"},     {"init", "init"}};

constexpr std::pair<const char*, const char*> counter_fields[] = {
    {"dram_read_bytes", counters::dram_read},
    {"dram_written_bytes", counters::dram_written},
    {"l2_read_bytes", counters::l2_read},
    {"l2_written_bytes", counters::l2_written},
    {"tensor_pipe_percent", counters::tensor_percent},
    {"shared_wavefronts", counters::shared_wavefronts},
    {"shared_bank_conflicts", counters::bank_conflicts},
    {"barrier_stall_percent", counters::barrier_percent}};

void add_identity(Record& record, const Report& report, const Row& row) {
  record.text("key", recorded(row, "key", identity(row)).value_or(""));
  record.text("label", row.label.empty() ? report.label : row.label);
  for (const auto& [heading, axis] : axis_fields)
    if (std::string_view(axis) == "scale")
      record.number(heading, recorded(row, "problem/scale", row.what.problem.scale));
    else
      record.text(heading, value_of(axis_called(axis), row));
  const Report& origin = origin_of(report, row);
  record.text(
      "seed",
      recorded(origin, "measurement/seed", std::to_string(origin.measurement.seed)).value_or(""));
  record.text("status", status_of(row));
  record.text("reason", row.reason);
}

void add_time(Record& record, const Row& row) {
  const bool ok = row.status == Status::ok && row.time;
  const auto add = [&](const std::string& member_name, auto Time::*member) {
    std::optional<double> value;
    if (ok && !row.unrecorded.contains("time_ms/" + member_name)) value = *row.time.*member;
    record.number(("time_ms_" + member_name).c_str(), value);
  };
  add("median", &Time::median);
  add("low", &Time::low);
  add("high", &Time::high);
  add("min", &Time::min);
  add("p05", &Time::p05);
  add("p95", &Time::p95);
  add("mean", &Time::mean);
  add("stddev", &Time::stddev);
  record.integer("samples", ok ? recorded(row, "time_ms/n", row.time->n) : std::nullopt);
}

void add_figures(Record& record, const Row& row) {
  const bool ok = row.status == Status::ok;
  const Utilization use = ok ? row.utilization : Utilization{};
  const std::optional<Speedup> speedup = ok ? row.speedup : std::nullopt;
  const auto of_speedup = [&](auto Speedup::*member) {
    return speedup ? std::optional<double>(*speedup.*member) : std::nullopt;
  };
  record.number("tflops", ok ? row.tflops : std::nullopt);
  record.number("utilization_peak", use.peak);
  record.number("utilization_ceiling", use.ceiling);
  record.text("binds", use.binds);
  record.number("floor_ms", use.floor_ms);
  record.number("flops_counted", recorded(row, "flops/counted", row.flops.counted));
  record.number("flops_exact", recorded(row, "flops/exact", row.flops.exact));
  record.text("flops_convention", row.flops.convention);
  record.text("speedup_vs", speedup ? speedup->vs : "");
  record.number("speedup", of_speedup(&Speedup::value));
  record.number("speedup_low", of_speedup(&Speedup::low));
  record.number("speedup_high", of_speedup(&Speedup::high));
}

void add_checks(Record& record, const Row& row) {
  for (const char* tensor : {"o", "lse", "dq", "dk", "dv"}) {
    const TensorCheck* found = nullptr;
    for (const TensorCheck& check : row.numerics)
      if (check.tensor == tensor) found = &check;
    const std::string prefix = tensor;
    record.number((prefix + "_max_abs").c_str(), found ? found->max_abs : std::nullopt);
    record.number((prefix + "_error_ratio").c_str(), found ? found->ratio : std::nullopt);
    const std::string path = "numerics/" + prefix + "/verdict";
    record.text(
        (prefix + "_verdict").c_str(),
        found ? recorded(row, path.c_str(), std::string(name(found->verdict))).value_or("") : "");
  }
}

void add_rest(Record& record, const Report& report, const Row& row) {
  record.number("traffic_model_bytes", modelled_bytes(row));
  record.number(
      "traffic_host_bytes",
      row.counts ? recorded(row, "traffic/host", row.counts->traffic.total()) : std::nullopt);
  for (const auto& [heading, metric] : counter_fields) {
    const auto found = row.measured.find(metric);
    record.number(heading, found == row.measured.end() ? std::nullopt : found->second);
  }
  record.text("uncounted", row.uncounted);
  record.integer("workspace_bytes", row.memory.workspace_bytes);
  record.integer("saved_bytes", row.memory.saved_bytes);
  record.integer("device_bytes", row.memory.device_bytes);
  record.integer("needed_bytes", row.memory.needed_bytes);
  record.number("clock_mhz", row.clock_mhz);
  record.text("flags", fmt::format("{}", fmt::join(row.flags, " ")));
  record.number("drift", row.drift);
  record.text("deterministic", row.deterministic ? *row.deterministic ? "true" : "false" : "");
  record.text("inputs_checksum", fmt::format("{}", fmt::join(row.inputs_checksum, " ")));
  record.text("device", device_of(row, report));
  record.text("command", row.command);
}

std::string record_of(const Report& report, const Row& row, bool headings) {
  Record record(headings);
  add_identity(record, report, row);
  add_time(record, row);
  add_figures(record, row);
  add_checks(record, row);
  add_rest(record, report, row);
  return record.line();
}

}  // namespace

std::string render_csv(const Report& report) {
  std::string text = record_of(report, Row{}, true);
  for (const Row& row : report.rows) text += record_of(report, row, false);
  return as_utf8(text);
}

}  // namespace flashbench

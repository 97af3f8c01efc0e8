#include <fmt/format.h>

#include <cmath>

#include "report/report.hpp"

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

void add_identity(Record& record, const Report& report, const Row& row) {
  const Problem& problem = row.what.problem;
  record.text("key", identity(row));
  record.text("label", row.label.empty() ? report.label : row.label);
  record.text("impl", row.what.impl);
  record.text("pass", std::string(name(row.what.pass)));
  record.text("source", row.what.source);
  record.text("backend", std::string(name(row.what.backend)));
  record.text("cache", std::string(name(row.what.cache)));
  record.integer("batch", problem.batch);
  record.integer("heads", problem.heads);
  record.integer("kv_heads", problem.kv_heads);
  record.integer("seq_q", problem.seq_q);
  record.integer("seq_k", problem.seq_k);
  record.integer("head_dim", problem.head_dim);
  record.text("dtype", std::string(name(problem.dtype)));
  record.text("mask", std::string(name(problem.mask)));
  record.number("scale", problem.scale);
  record.text("layout", std::string(name(problem.layout)));
  record.text("init", std::string(name(problem.init)));
  record.text("seed", std::to_string(report.measurement.seed));
  record.text("status", std::string(name(row.status)));
  record.text("reason", row.reason);
}

void add_time(Record& record, const Row& row) {
  const bool ok = row.status == Status::ok && row.time;
  const auto add = [&](const char* heading, double Time::*member) {
    record.number(heading, ok ? std::optional(*row.time.*member) : std::nullopt);
  };
  add("time_ms_median", &Time::median);
  add("time_ms_low", &Time::low);
  add("time_ms_high", &Time::high);
  add("time_ms_min", &Time::min);
  add("time_ms_p05", &Time::p05);
  add("time_ms_p95", &Time::p95);
  add("time_ms_mean", &Time::mean);
  add("time_ms_stddev", &Time::stddev);
  record.integer("samples", ok ? std::optional(row.time->n) : std::nullopt);
}

void add_figures(Record& record, const Row& row) {
  const bool ok = row.status == Status::ok;
  const Utilization use = ok ? row.utilization : Utilization{};
  const std::optional<Speedup> speedup = ok ? row.speedup : std::nullopt;
  const auto of_speedup = [&](double Speedup::*member) {
    return speedup ? std::optional(*speedup.*member) : std::nullopt;
  };
  record.number("tflops", ok ? row.tflops : std::nullopt);
  record.number("utilization_peak", use.peak);
  record.number("utilization_ceiling", use.ceiling);
  record.text("binds", use.binds);
  record.number("floor_ms", use.floor_ms);
  record.number("flops_counted", row.flops.counted);
  record.number("flops_exact", row.flops.exact);
  record.text("flops_convention", row.flops.convention);
  record.text("speedup_vs", speedup ? speedup->vs : "");
  record.number("speedup", of_speedup(&Speedup::value));
  record.number("speedup_low", of_speedup(&Speedup::low));
  record.number("speedup_high", of_speedup(&Speedup::high));
}

std::optional<double> model_bytes(const Row& row) {
  if (!row.cost) return std::nullopt;
  double bytes = 0;
  for (const KernelCost& kernel : row.cost->kernels) bytes += kernel.traffic.total();
  return bytes;
}

void add_checks(Record& record, const Row& row) {
  for (const char* tensor : {"o", "lse", "dq", "dk", "dv"}) {
    const TensorCheck* found = nullptr;
    for (const TensorCheck& check : row.numerics)
      if (check.tensor == tensor) found = &check;
    const std::string prefix = tensor;
    record.number((prefix + "_max_abs").c_str(), found ? found->max_abs : std::nullopt);
    record.number((prefix + "_error_ratio").c_str(), found ? found->ratio : std::nullopt);
    record.text((prefix + "_verdict").c_str(), found ? std::string(name(found->verdict)) : "");
  }
}

void add_rest(Record& record, const Report& report, const Row& row) {
  record.number("traffic_model_bytes", model_bytes(row));
  record.number("traffic_host_bytes",
                row.counts ? std::optional(row.counts->traffic.total()) : std::nullopt);
  record.integer("workspace_bytes", row.memory.workspace_bytes);
  record.integer("saved_bytes", row.memory.saved_bytes);
  record.integer("device_bytes", row.memory.device_bytes);
  record.integer("needed_bytes", row.memory.needed_bytes);
  record.number("clock_mhz", row.clock_mhz);
  record.text("flags", fmt::format("{}", fmt::join(row.flags, " ")));
  record.number("drift", row.drift);
  record.text("deterministic", row.deterministic ? *row.deterministic ? "true" : "false" : "");
  record.text("device", report.device.name);
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
  return text;
}

}  // namespace flashbench

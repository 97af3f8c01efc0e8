// Rows and reports made by hand, for tests of what reads them.
#pragma once

#include <string>

#include "estimate/estimate.hpp"
#include "record/row.hpp"

namespace flashbench::testing {

inline Problem problem(std::int64_t seq = 4096) {
  Problem result;
  result.batch = 4;
  result.heads = result.kv_heads = 16;
  result.seq_q = result.seq_k = seq;
  result.head_dim = 128;
  result.dtype = Dtype::fp16;
  result.scale = 0.08838834764831845;
  return result;
}

inline Time time(double median, double half_width = 0) {
  Time result;
  result.median = result.mean = median;
  result.low = result.min = result.p05 = median - half_width;
  result.high = result.p95 = median + half_width;
  result.n = 10;
  result.samples = {{median, 0}, {median, 1}};
  return result;
}

inline Row row(const std::string& impl, double median, double half_width = 0,
               std::int64_t seq = 4096) {
  Row result;
  result.what.impl = impl;
  result.what.backend = Backend::cuda;
  result.what.problem = problem(seq);
  result.status = Status::ok;
  result.time = time(median, half_width);
  result.flops = flops(result.what.problem, result.what.pass);
  result.tflops = result.flops.counted / median / 1e9;
  return result;
}

// The same of so few samples that its median has no interval.
inline Row without_interval(Row row) {
  row.time->n = 3;
  row.time->low = row.time->high = std::nullopt;
  return row;
}

inline Report report(std::vector<Row> rows, const std::string& device = "NVIDIA H200") {
  Report result;
  result.complete = true;
  result.tool_version = "0.1.0";
  result.started = "2025-01-01T00:00:00Z";
  result.device.backend = Backend::cuda;
  result.device.name = device;
  result.device.uuid = "GPU-1";
  result.measurement.method = "1";
  result.measurement.seed = 1;
  result.rows = std::move(rows);
  return result;
}

// The text of a report that says `members` beside its schema: R"("rows":[])".
inline std::string in_report(const std::string& members) {
  return "{\"schema\":\"flashbench.report/1\"," + members + "}";
}

}  // namespace flashbench::testing

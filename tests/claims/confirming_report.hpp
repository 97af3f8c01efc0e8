// A report, made by hand, whose rows bear out every claim of the document.
#pragma once

#include <string>
#include <vector>

#include "record/hardware_counters.hpp"
#include "record/rows.hpp"

namespace flashbench::testing {

inline constexpr std::int64_t counted_seq = 2048, counted_head_dim = 64, k = 1024;
inline constexpr double steps = 4;  // K/V tiles, and Q tiles of v2, of the rows with counts

inline TensorCheck passed(const std::string& tensor) {
  TensorCheck check;
  check.tensor = tensor;
  check.ratio = 0.5;
  check.verdict = Verdict::pass;
  return check;
}

inline Row timed(const std::string& impl, Pass pass, Problem problem, double ms) {
  Row row = testing::row(impl, ms, 0.01 * ms);
  row.what.pass = pass;
  row.what.problem = problem;
  row.flops = flops(problem, pass);
  row.tflops = row.flops.counted / ms / 1e9;
  row.utilization.peak = *row.tflops / 312;
  row.numerics = {passed(pass == Pass::bwd ? "dq" : "o")};
  if (pass != Pass::bwd) row.numerics.push_back(passed("lse"));
  Launch launch;
  launch.threads = impl == "v1" ? 256 : 128;
  launch.blocks = problem.batch * problem.heads * (impl == "v1" ? 1 : problem.seq_q / 128);
  row.launches = {launch};
  row.memory.saved_bytes = problem.batch * problem.heads * problem.seq_q * (impl == "v1" ? 8 : 4);
  row.memory.workspace_bytes = 1 << 20;
  const std::int64_t tensor_bytes =
      2 * problem.batch * problem.heads * problem.seq_q * problem.head_dim;
  row.memory.inputs_bytes = 3 * tensor_bytes;
  row.memory.outputs_bytes = tensor_bytes;
  return row;
}

// At the rate given.
inline Row at(const std::string& impl, Pass pass, const Problem& problem, double tflops) {
  return timed(impl, pass, problem, flashbench::flops(problem, pass).counted / tflops / 1e9);
}

inline Problem usual(std::int64_t seq, Mask mask = Mask::full) {
  Problem result = problem(seq);
  result.batch = 16 * k / seq;
  result.mask = mask;
  return result;
}

// What a GPU counts: all of it more for v1 but the tensor pipes' share.
inline void count_on_gpu(Row& row) {
  const double times = row.what.impl == "v1" ? 2 : 1;
  for (const char* metric : {counters::dram_read, counters::dram_written, counters::l2_read,
                             counters::l2_written, counters::shared_wavefronts})
    row.measured[metric] = 1e9 * times;
  row.measured[counters::barrier_percent] = 3 * times;
  row.measured[counters::tensor_percent] = 60 / times;
}

inline void add_throughput(std::vector<Row>& rows) {
  const double v2[] = {196, 218, 227, 222};
  for (int i = 0; i < 4; ++i) {
    rows.push_back(at("v1", Pass::fwd, usual(k << i), 115));
    count_on_gpu(rows.back());
    rows.push_back(at("v2", Pass::fwd, usual(k << i), v2[i]));
    count_on_gpu(rows.back());
    rows.push_back(at("v1", Pass::fwd, usual(k << i, Mask::causal), 115 / 2.0));
    rows.push_back(at("v2", Pass::fwd, usual(k << i, Mask::causal), v2[i]));
  }
  for (std::int64_t seq : {2 * k, 8 * k}) {
    Problem one_head = problem(seq);
    one_head.batch = one_head.heads = one_head.kv_heads = 1;
    rows.push_back(at("v1", Pass::fwd, one_head, 4));
    rows.push_back(at("v2", Pass::fwd, one_head, 111));
  }
}

inline void add_rivals(std::vector<Row>& rows) {
  rows.push_back(at("pytorch-math", Pass::fwd, usual(2 * k), 50));
  rows.push_back(at("pytorch-efficient", Pass::fwd, usual(2 * k), 155));
  rows.push_back(at("pytorch-math", Pass::bwd, usual(2 * k), 40));
  rows.push_back(at("v1", Pass::bwd, usual(2 * k), 100));
  rows.push_back(at("v2", Pass::bwd, usual(2 * k), 156));
  rows.push_back(at("pytorch-efficient", Pass::bwd, usual(2 * k), 112));
  Problem rungs = usual(4 * k, Mask::causal);
  rungs.dtype = Dtype::bf16;
  rows.push_back(timed("ladder/logsumexp", Pass::fwd, rungs, 1.0));
  rows.push_back(timed("without/q-outer", Pass::fwd, rungs, 1.5));
  rows.push_back(timed("without/delayed-normalisation", Pass::fwd, rungs, 1.3));
  rows.push_back(timed("without/warps-along-q", Pass::fwd, rungs, 1.2));
  rows.push_back(timed("without/grid-over-q", Pass::fwd, rungs, 3.0));
}

inline void add_memory(std::vector<Row>& rows) {
  for (std::int64_t seq : {2 * k, 4 * k, 8 * k}) {
    rows.push_back(timed("naive", Pass::fwd_bwd, problem(seq), 1));
    rows.back().memory.workspace_bytes = 100 + 4 * seq * seq;
    rows.push_back(timed("v2", Pass::fwd_bwd, problem(seq), 1));
    rows.back().memory.workspace_bytes = 100 + 256 * seq;
  }
  Row& oom = rows.emplace_back(timed("naive", Pass::fwd_bwd, problem(64 * k), 1));
  oom.status = Status::oom;
  oom.reason = "it does not fit";
  oom.time.reset();
  oom.memory.needed_bytes = std::int64_t{1} << 40;
}

inline Row counted(const std::string& impl, Pass pass, Mask mask = Mask::full,
                   std::int64_t seq = counted_seq) {
  Problem small = problem(seq);
  small.batch = small.heads = small.kv_heads = 1;
  small.head_dim = counted_head_dim;
  small.dtype = Dtype::fp32;
  small.mask = mask;
  Row row = timed(impl, pass, small, 1);
  row.what.backend = Backend::cpu;
  row.counts.emplace();
  row.counts->flops = flops(small, pass).counted * (mask == Mask::causal ? 2 : 1);
  return row;
}

inline constexpr double n = counted_seq, elements = n * counted_head_dim, tensor = 4 * elements;

inline void add_counted_forward(std::vector<Row>& rows) {
  Row v1 = counted("v1", Pass::fwd), v2 = counted("v2", Pass::fwd);
  v1.counts->traffic = {{{"q", steps * tensor},
                         {"k", tensor},
                         {"v", tensor},
                         {"o", (steps - 1) * tensor},
                         {"statistics", (steps - 1) * 8 * n}},
                        {{"o", steps * tensor}, {"statistics", steps * 8 * n}}};
  v1.counts->divisions = (2 * steps - 1) * elements;
  v1.counts->corrections = (steps - 1) * elements;
  v1.counts->merges = 9 * n * steps;
  v1.counts->barriers = steps + 4 * steps * steps;
  v2.counts->traffic = {{{"q", tensor}, {"k", steps * tensor}, {"v", steps * tensor}},
                        {{"o", tensor}, {"statistics", 4 * n}}};
  v2.counts->divisions = elements;
  v2.counts->barriers = steps * steps;
  for (Row* row : {&v1, &v2}) row->counts->exponentials = n * (n + steps);
  rows.insert(rows.end(), {v1, v2, counted("naive", Pass::fwd)});
  for (const char* impl : {"naive", "v1", "v2"})
    rows.push_back(counted(impl, Pass::fwd, Mask::causal));
  rows.back().counts->flops *= 0.53;
  rows.back().counts->traffic.read["k"] = steps / 2 * tensor * 1.1;
  Row shorter_v1 = counted("v1", Pass::fwd, Mask::full, counted_seq / 2);
  Row shorter_v2 = counted("v2", Pass::fwd, Mask::full, counted_seq / 2);
  shorter_v1.counts->traffic.written["statistics"] = steps / 2 * 8 * n / 2;
  shorter_v1.counts->divisions = (steps - 1) * elements / 2;
  shorter_v2.counts->divisions = elements / 2;
  rows.insert(rows.end(), {shorter_v1, shorter_v2});
}

inline void add_counted_backward(std::vector<Row>& rows) {
  Row v1 = counted("v1", Pass::bwd), v2 = counted("v2", Pass::bwd);
  v1.counts->traffic.read = {{"q", steps * tensor},
                             {"k", tensor},
                             {"v", tensor},
                             {"o", steps * tensor},
                             {"statistics", steps * 8 * n}};
  v1.counts->divisions = n * n;
  v2.counts->traffic = {
      {{"o", tensor}, {"q", steps * tensor}, {"k", tensor}, {"v", tensor}, {"dq", steps * tensor}},
      {{"dk", tensor}, {"dv", tensor}, {"dq", (steps + 1) * tensor}}};
  rows.insert(rows.end(), {v1, v2, counted("naive", Pass::bwd)});
}

inline Report confirming_report() {
  std::vector<Row> rows;
  add_throughput(rows);
  add_rivals(rows);
  add_memory(rows);
  add_counted_forward(rows);
  add_counted_backward(rows);
  Report result = report(std::move(rows), "NVIDIA A100-SXM4-80GB");
  result.device.multiprocessors = 108;
  result.device.peak_tflops = 312;
  result.device.peak_gbps = 2039;
  result.device.shared_bytes_per_multiprocessor = 164 * 1024;
  result.ceilings = {{"mma", 280e12, 100}, {"copy", 1.8e12, 100}};
  return result;
}

}  // namespace flashbench::testing

#include "claims/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace flashbench {

namespace {

constexpr double fp32_bytes = 4;

double of_operand(const std::map<std::string, double>& bytes, const std::string& operand) {
  const auto found = bytes.find(operand);
  return found == bytes.end() ? 0 : found->second;
}

}  // namespace

Finding of_counted(const Report& report, const Wanted& one, const Wanted& other,
                   const std::function<Finding(const Row&, const Row&)>& judge, Wrong wrong) {
  const std::optional<RowPair> pair = counted_pair(report, one, other, wrong);
  if (pair) return judge(*pair->one, *pair->other);
  return cannot_tell(fmt::format("no fp32 rows of {} and {} on one problem hold counts",
                                 described(one), described(other)));
}

double elements(const Row& row, const std::string& operand) {
  const Problem& p = row.what.problem;
  const double queries = heads_of(p) * static_cast<double>(p.seq_q);
  if (operand == "statistics") return queries;
  const bool of_keys = operand == "k" || operand == "v" || operand == "dk" || operand == "dv";
  const double tokens =
      of_keys ? static_cast<double>(p.batch * p.kv_heads) * static_cast<double>(p.seq_k) : queries;
  return tokens * static_cast<double>(p.head_dim);
}

double bytes_read(const Row& row, const std::string& operand) {
  return of_operand(row.counts->traffic.read, operand);
}

double bytes_written(const Row& row, const std::string& operand) {
  return of_operand(row.counts->traffic.written, operand);
}

double times_read(const Row& row, const std::string& operand) {
  return bytes_read(row, operand) / (fp32_bytes * elements(row, operand));
}

double times_written(const Row& row, const std::string& operand) {
  return bytes_written(row, operand) / (fp32_bytes * elements(row, operand));
}

std::int64_t keys_of(const Row& row) {
  return row.what.problem.seq_k;
}

double forward_steps(const Row& v1) {
  return times_written(v1, "statistics") / 2;
}

double backward_steps(const Row& v1) {
  return times_read(v1, "statistics") / 2;
}

bool same(double one, double other) {
  return std::abs(one - other) <= 1e-9 * std::max({std::abs(one), std::abs(other), 1.0});
}

}  // namespace flashbench

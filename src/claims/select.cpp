#include "claims/select.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace flashbench {

namespace {

bool is_ours(const Row& row, const Wanted& wanted) {
  return row.what.impl == wanted.impl && row.what.pass == wanted.pass &&
         row.what.problem.mask == wanted.mask && !row.what.source.starts_with("against:");
}

Backend device_of(const Report& report) {
  const bool gpu = std::ranges::any_of(
      report.rows, [](const Row& row) { return row.what.backend == Backend::cuda; });
  return gpu ? Backend::cuda : Backend::cpu;
}

// Whether the cases differ in nothing but implementation and mask (and batch and heads).
bool same_question(const Case& one, const Case& other, bool whatever_heads = false) {
  Case a = one, b = other;
  a.impl = b.impl = a.source = b.source = "";
  a.problem.mask = b.problem.mask;
  if (whatever_heads) {
    a.problem.batch = b.problem.batch;
    a.problem.heads = b.problem.heads;
    a.problem.kv_heads = b.problem.kv_heads;
  }
  return a == b;
}

bool is_counted(const Row& row, Wrong wrong) {
  const bool stands =
      row.status == Status::ok || (row.status == Status::failed && wrong == Wrong::taken);
  return stands && row.counts && row.what.problem.dtype == Dtype::fp32;
}

}  // namespace

std::string described(const Wanted& wanted) {
  return fmt::format("{} {} {}", wanted.impl, name(wanted.pass), name(wanted.mask));
}

std::string tokens(std::int64_t seq) {
  return seq > 0 && seq % 1024 == 0 ? fmt::format("{}k", seq / 1024) : std::to_string(seq);
}

double heads_of(const Problem& problem) {
  return static_cast<double>(problem.batch * problem.heads);
}

Rows rows_of(const Report& report, const Wanted& wanted) {
  const Backend device = device_of(report);
  Rows rows;
  for (const Row& row : report.rows)
    if (is_ours(row, wanted) && row.what.backend == device) rows.push_back(&row);
  return rows;
}

Rows timed_rows(const Report& report, const Wanted& wanted) {
  Rows widest;
  for (const Row* row : rows_of(report, wanted)) {
    if (row->status != Status::ok || !row->time || !(row->time->median > 0)) continue;
    const auto rival = std::ranges::find_if(
        widest, [&](const Row* other) { return same_question(row->what, other->what, true); });
    if (rival == widest.end())
      widest.push_back(row);
    else if (heads_of(row->what.problem) > heads_of((*rival)->what.problem))
      *rival = row;
  }
  std::ranges::stable_sort(widest, {}, [](const Row* row) { return row->what.problem.seq_q; });
  return widest;
}

std::vector<RowPair> timed_pairs(const Report& report, const Wanted& one, const Wanted& other) {
  std::vector<RowPair> pairs;
  for (const Row* a : timed_rows(report, one))
    for (const Row* b : timed_rows(report, other))
      if (same_question(a->what, b->what)) pairs.push_back({a, b});
  return pairs;
}

std::vector<RowPair> counted_pairs(const Report& report, const Wanted& one, const Wanted& other,
                                   Wrong wrong) {
  std::vector<RowPair> pairs;
  for (const Row& a : report.rows)
    for (const Row& b : report.rows)
      if (is_ours(a, one) && is_ours(b, other) && is_counted(a, wrong) && is_counted(b, wrong) &&
          same_question(a.what, b.what))
        pairs.push_back({&a, &b});
  return pairs;
}

std::optional<RowPair> counted_pair(const Report& report, const Wanted& one, const Wanted& other,
                                    Wrong wrong) {
  const std::vector<RowPair> pairs = counted_pairs(report, one, other, wrong);
  if (pairs.empty()) return std::nullopt;
  return *std::ranges::max_element(
      pairs, {}, [](const RowPair& pair) { return pair.one->what.problem.seq_k; });
}

Verdict verdict_on(const Row& row, std::string_view tensor) {
  for (const TensorCheck& check : row.numerics)
    if (check.tensor == tensor) return check.verdict;
  return Verdict::not_checked;
}

const Row* checked(const Report& report, const Wanted& wanted, std::string_view tensor) {
  const Row* longest = nullptr;
  for (const Row* row : rows_of(report, wanted))
    if (verdict_on(*row, tensor) != Verdict::not_checked &&
        (!longest || row->what.problem.seq_q >= longest->what.problem.seq_q))
      longest = row;
  return longest;
}

std::string why_none(const Report& report, const Wanted& wanted) {
  for (const Row* row : rows_of(report, wanted))
    if (row->status != Status::ok)
      return fmt::format("{}: {}: {}", described(wanted), name(row->status), row->reason);
  return fmt::format("no row of {} was measured", described(wanted));
}

std::string why_no_pairs(const Report& report, const Wanted& one, const Wanted& other) {
  if (timed_rows(report, one).empty()) return why_none(report, one);
  if (timed_rows(report, other).empty()) return why_none(report, other);
  return fmt::format("no problem was measured by both {} and {}", described(one), described(other));
}

Finding stand(bool holds, std::string figures) {
  return {holds ? Standing::holds : Standing::does_not_hold, std::move(figures)};
}

Finding cannot_tell(std::string reason) {
  return {Standing::cannot_be_tested, std::move(reason)};
}

}  // namespace flashbench

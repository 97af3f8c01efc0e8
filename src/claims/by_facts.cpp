// By errors, launches and memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/findings.hpp"
#include "claims/select.hpp"

namespace flashbench::findings {

namespace {

std::optional<double> error_ratio(const Row& row, const char* tensor) {
  for (const TensorCheck& check : row.numerics)
    if (check.tensor == tensor) return check.ratio;
  return std::nullopt;
}

// By declaration, beyond inputs and outputs.
std::optional<double> declared_bytes(const Row& row) {
  if (!row.memory.workspace_bytes || !row.memory.saved_bytes) return std::nullopt;
  return static_cast<double>(*row.memory.workspace_bytes + *row.memory.saved_bytes);
}

// Bytes at three lengths, each twice the one before, of one shape; the longest such.
struct Growth {
  std::int64_t shortest = 0;
  double bytes[3] = {};
  // 1 where they grow as N, 2 as N squared; what does not depend on N falls out.
  double exponent() const {
    const double first = bytes[1] - bytes[0], second = bytes[2] - bytes[1];
    return first > 0 && second > 0 ? std::log2(second / first) : 0;
  }
};

const Row* longer_by(const Rows& rows, const Row& row, std::int64_t factor) {
  Case wanted = row.what;
  wanted.problem.seq_q *= factor;
  wanted.problem.seq_k *= factor;
  const auto found =
      std::ranges::find_if(rows, [&](const Row* each) { return each->what == wanted; });
  return found == rows.end() ? nullptr : *found;
}

std::optional<Growth> growth_of(const Report& report, const char* impl) {
  const Rows rows = rows_of(report, {impl, Pass::fwd_bwd});
  std::optional<Growth> longest;
  for (const Row* row : rows) {
    const Row *twice = longer_by(rows, *row, 2), *four_times = longer_by(rows, *row, 4);
    if (!twice || !four_times || row->what.problem.seq_q == 0) continue;
    const auto least = declared_bytes(*row), more = declared_bytes(*twice),
               most = declared_bytes(*four_times);
    if (!least || !more || !most) continue;
    if (!longest || row->what.problem.seq_q > longest->shortest)
      longest = {row->what.problem.seq_q, {*least, *more, *most}};
  }
  return longest;
}

std::string shown(const char* impl, const Growth& growth) {
  return fmt::format("{} {:.2f}, {:.2f}, {:.2f} MiB at {}, {}, {} (N^{:.2f})", impl,
                     growth.bytes[0] / 1048576, growth.bytes[1] / 1048576,
                     growth.bytes[2] / 1048576, growth.shortest, 2 * growth.shortest,
                     4 * growth.shortest, growth.exponent());
}

}  // namespace

Finding delayed_normalisation_is_exact(const Report& report) {
  const Row *each_step = checked(report, v1, "o"), *at_the_end = checked(report, v2, "o");
  if (!each_step) return cannot_tell("O of v1 was not checked");
  if (!at_the_end) return cannot_tell("O of v2 was not checked");
  return stand(
      verdict_on(*each_step, "o") == Verdict::pass && verdict_on(*at_the_end, "o") == Verdict::pass,
      fmt::format("error as a share of what the check allows: v1 {:.2f}, v2 {:.2f}",
                  error_ratio(*each_step, "o").value_or(std::nan("")),
                  error_ratio(*at_the_end, "o").value_or(std::nan(""))));
}

Finding saved_row_is_the_logsumexp(const Report& report) {
  const Row* row = checked(report, v2, "lse");
  if (!row) return cannot_tell("L of v2 was not checked");
  return stand(verdict_on(*row, "lse") == Verdict::pass,
               fmt::format("{} queries: check of L against the reference's logsumexp: {}",
                           tokens(row->what.problem.seq_q), name(verdict_on(*row, "lse"))));
}

Finding statistics_are_halved(const Report& report) {
  for (const RowPair& pair : timed_pairs(report, v1, v2)) {
    const auto both = pair.one->memory.saved_bytes, merged = pair.other->memory.saved_bytes;
    if (!both || !merged || *both == 0 || *merged == 0) continue;
    return stand(*both == 2 * *merged, fmt::format("{} queries: v1 saves {} bytes, v2 {}",
                                                   pair.one->what.problem.seq_q, *both, *merged));
  }
  return cannot_tell("no rows of v1 and v2 on one problem say what they save");
}

Finding memory_grows_linearly(const Report& report) {
  const auto standard = growth_of(report, "naive"), v2_growth = growth_of(report, "v2");
  if (!standard || !v2_growth)
    return cannot_tell(fmt::format("no memory of {} fwd+bwd at three lengths, each twice the last",
                                   standard ? "v2" : "naive"));
  return stand(standard->exponent() > 1.8 && v2_growth->exponent() < 1.2,
               shown("naive", *standard) + "; " + shown("v2", *v2_growth));
}

Finding memory_of_the_table(const Report&) {
  return cannot_tell(
      "the document names neither heads nor head dimension; --config document-memory sets its "
      "figures beside measured ones");
}

Finding standard_attention_is_out_of_memory_at_64k(const Report& report) {
  constexpr std::int64_t length = 65536;
  for (const Row* row : rows_of(report, {"naive", Pass::fwd_bwd})) {
    if (row->what.problem.seq_q != length) continue;
    if (row->status != Status::ok && row->status != Status::oom) continue;
    const double needed = static_cast<double>(row->memory.needed_bytes.value_or(0)) +
                          (row->memory.needed_bytes ? 0 : declared_bytes(*row).value_or(0));
    return stand(
        row->status == Status::oom,
        fmt::format("naive, {} x {} heads: {}, {:.1f} GiB", row->what.problem.batch,
                    row->what.problem.heads, row->status == Status::oom ? "does not fit" : "fits",
                    needed / 1073741824));
  }
  return cannot_tell("not part of this sweep; judge a report of --config document-memory");
}

}  // namespace flashbench::findings

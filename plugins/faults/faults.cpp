#include <array>
#include <cmath>
#include <utility>

#include "plugins/faults/fault.hpp"
#include "plugins/faults/host_access.hpp"

namespace flashbench::faults {

namespace {

constexpr std::int64_t tile = 64;

std::byte* bytes_of(const FlashbenchTensor& tensor) {
  return static_cast<std::byte*>(tensor.data);
}

Parts whole(const FlashbenchProblem& p) {
  return {{0, p.seq_q, p.seq_k, p.scale}};
}

// In two halves, as the faults that need several parts have them.
Parts halves(const FlashbenchProblem& p) {
  const std::int64_t half = p.seq_q / 2;
  const std::int64_t keys = p.mask == FLASHBENCH_FULL ? p.seq_k : half;
  return {{0, half, keys, p.scale}, {half, p.seq_q - half, p.seq_k, p.scale}};
}

Parts nothing(const FlashbenchProblem&) {
  return {};
}

// Row i of the first part sees i + 2 keys.
Parts one_key_too_many(const FlashbenchProblem& p) {
  return {{0, p.seq_q - 1, p.seq_k, p.scale}, {p.seq_q - 1, 1, p.seq_k, p.scale}};
}

Parts without_the_last_tile(const FlashbenchProblem& p) {
  return {{0, p.seq_q, p.seq_k - tile, p.scale}};
}

// Row i of the second half sees i keys: not its own.
Parts without_the_late_diagonal(const FlashbenchProblem& p) {
  Parts parts = halves(p);
  parts[1].keys -= 1;
  return parts;
}

Parts scaled_wrongly(const FlashbenchProblem& p) {
  return {{0, p.seq_q, p.seq_k, 1.01 * p.scale}};
}

Parts without_the_last_rows(const FlashbenchProblem& p) {
  constexpr std::int64_t lost = 3;
  const std::int64_t keys = p.mask == FLASHBENCH_FULL ? p.seq_k : p.seq_k - lost;
  return {{0, p.seq_q - lost, keys, p.scale}};
}

// O of (B, S, H, d) is written as (B, H, S, d), or the other way round.
void swap_layout(const FlashbenchProblem& p, FlashbenchForward& args) {
  const bool heads_inside = args.o.head == p.head_dim;
  args.o.head = heads_inside ? p.seq_q * p.head_dim : p.head_dim;
  args.o.seq = heads_inside ? p.head_dim : p.query_heads * p.head_dim;
}

bool after_the_first(const Memory& memory) {
  return memory.calls > 0;
}

// Both input sets are run three times to be judged. An odd period meets either set in turn.
bool but_one_in_seven_once_judged(const Memory& memory) {
  return memory.calls >= 6 && memory.calls % 7 > 0;
}

void answer_the_first_question(const FlashbenchProblem& p, const FlashbenchForward& args,
                               Memory& memory, void* stream) {
  if (memory.o.empty()) {
    memory.o.resize(static_cast<std::size_t>(bytes_of_o(p)));
    memory.lse.resize(static_cast<std::size_t>(bytes_of_lse(p)));
    to_host(memory.o.data(), args.o.data, bytes_of_o(p), stream);
    to_host(memory.lse.data(), args.lse, bytes_of_lse(p), stream);
  }
  from_host(args.o.data, memory.o.data(), bytes_of_o(p), stream);
  from_host(args.lse, memory.lse.data(), bytes_of_lse(p), stream);
}

void take_logs_to_base_2(const FlashbenchProblem& p, const FlashbenchForward& args, Memory&,
                         void* stream) {
  std::vector<float> lse(static_cast<std::size_t>(bytes_of_lse(p)) / sizeof(float));
  to_host(lse.data(), args.lse, bytes_of_lse(p), stream);
  for (float& value : lse) value *= std::log2(std::exp(1.0F));
  from_host(args.lse, lse.data(), bytes_of_lse(p), stream);
}

void put_one_nan(const FlashbenchProblem& p, const FlashbenchForward& args, Memory&, void* stream) {
  const std::uint32_t ones = 0xffffffff;  // NaN in every dtype
  const std::int64_t element = bytes_of_o(p) / elements_of_o(p);
  from_host(bytes_of(args.o) + elements_of_o(p) / 3 * element, &ones, element, stream);
}

void write_past_the_end(const FlashbenchProblem& p, const FlashbenchForward& args, Memory&,
                        void* stream) {
  const std::uint16_t zero = 0;
  from_host(bytes_of(args.o) + bytes_of_o(p) + 6, &zero, sizeof zero, stream);
}

using Shows = Fault::Shows;
constexpr std::array<Fault, fault_count> table{{
    {"healthy", "no fault: must pass", Shows::with_any_mask, halves},
    {"off-by-one-mask", "the causal mask lets one key too many through", Shows::causal,
     one_key_too_many},
    {"dropped-last-tile", "the last 64 keys are left out", Shows::full, without_the_last_tile},
    {"lost-diagonal", "rows of the second half do not see their own key", Shows::causal,
     without_the_late_diagonal},
    {"wrong-scale", "the scale is 1 % too large", Shows::with_any_mask, scaled_wrongly},
    {"wrong-log-base", "LSE is the logarithm to base 2", Shows::with_any_mask, whole, nullptr,
     nullptr, take_logs_to_base_2},
    {"swapped-layout", "O is written with heads and rows swapped", Shows::with_any_mask, whole,
     swap_layout},
    {"unwritten-rows", "the last 3 rows are not written", Shows::with_any_mask,
     without_the_last_rows},
    {"stale-output", "only the first run computes anything", Shows::with_any_mask, whole, nullptr,
     after_the_first},
    {"skipped-launches", "once judged, one launch in seven computes anything", Shows::with_any_mask,
     whole, nullptr, but_one_in_seven_once_judged},
    {"cached-output", "every input gets the first input's output", Shows::with_any_mask, whole,
     nullptr, nullptr, answer_the_first_question},
    {"one-nan", "one element of O is NaN", Shows::with_any_mask, whole, nullptr, nullptr,
     put_one_nan},
    {"out-of-bounds", "two bytes are written past the end of O", Shows::with_any_mask, whole,
     nullptr, nullptr, write_past_the_end},
    {"16-bit-reference", "scores, weights and sums all in 16 bits", Shows::full, nothing, nullptr,
     nullptr, attend_in_16_bits},
}};
static_assert(table.back().name);

}  // namespace

std::span<const Fault, fault_count> all() {
  return table;
}

std::int64_t elements_of_o(const FlashbenchProblem& p) {
  return p.batch * p.query_heads * p.seq_q * p.head_dim;
}

std::int64_t bytes_of_o(const FlashbenchProblem& p) {
  return elements_of_o(p) * (p.dtype == FLASHBENCH_FP32 ? 4 : 2);
}

std::int64_t bytes_of_lse(const FlashbenchProblem& p) {
  return p.batch * p.query_heads * p.seq_q * 4;
}

}  // namespace flashbench::faults

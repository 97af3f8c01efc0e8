// A fault that is planted into a working implementation.
//
// The implementation is called once a part: some rows of one head, with the first keys. So a fault
// is another cut into parts, another view of the tensors, or something done to the results.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "flashbench/attention.h"

namespace flashbench::faults {

// Rows first ... first + rows - 1 of a head against the keys 0 ... keys - 1; a causal mask is
// aligned bottom right within the part.
struct Part {
  std::int64_t first = 0, rows = 0, keys = 0;
  double scale = 0;
};
using Parts = std::vector<Part>;

// What a fault keeps from run to run, which an implementation may not.
struct Memory {
  int calls = 0;
  std::vector<std::byte> o, lse;
};

struct Fault {
  const char* name = nullptr;
  const char* idea = nullptr;
  enum class Shows { with_any_mask, causal, full } shows = Shows::with_any_mask;
  Parts (*parts)(const FlashbenchProblem&) = nullptr;
  void (*view)(const FlashbenchProblem&, FlashbenchForward&) = nullptr;
  bool (*idle)(const Memory&) = nullptr;  // true: this run does nothing at all
  void (*after)(const FlashbenchProblem&, const FlashbenchForward&, Memory&,
                void* stream) = nullptr;
};

inline constexpr std::size_t fault_count = 14;
// The first one is "healthy": no fault, only the parts.
std::span<const Fault, fault_count> all();

std::int64_t elements_of_o(const FlashbenchProblem&);
std::int64_t bytes_of_o(const FlashbenchProblem&);
std::int64_t bytes_of_lse(const FlashbenchProblem&);

// The formula with every intermediate rounded to fp16 or bf16, sums included; written over O. fp32
// problems are left alone.
void attend_in_16_bits(const FlashbenchProblem&, const FlashbenchForward&, Memory&, void* stream);

}  // namespace flashbench::faults

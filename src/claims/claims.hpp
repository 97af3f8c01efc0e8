// The source document's claims, each held against the rows of a report: times, errors, memory, the
// counts that the CPU's implementations make while they run, and a GPU's own. Pure: nothing is
// measured here, and no figure of an implementation's own model counts as evidence of its speed or
// traffic.
#pragma once

#include <string>
#include <vector>

#include "record/row.hpp"

namespace flashbench {

enum class Standing { holds, does_not_hold, cannot_be_tested };

template <>
struct Words<Standing> {
  static constexpr std::array<std::string_view, 3> all{"holds", "does not hold",
                                                       "cannot be tested"};
};

struct Finding {
  Standing standing = Standing::cannot_be_tested;
  std::string figures;  // what it rests on; of what cannot be tested: why
};

struct Claim {
  const char* name;     // "o-once"
  const char* section;  // of the document
  const char* claim;    // what the document says
  const char* test;     // what is held against what
  Finding (*judge)(const Report&);
};

// In the document's order.
const std::vector<Claim>& claims();

struct JudgedClaim {
  const Claim* claim = nullptr;
  Finding finding;
};
std::vector<JudgedClaim> judge_claims(const Report&);

}  // namespace flashbench

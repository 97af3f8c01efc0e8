// The exit codes of interface.md and which of several wins.
#pragma once

#include <span>

#include "record/row.hpp"

namespace flashbench {

namespace exit_code {
inline constexpr int ok = 0, failed = 1, usage = 2, device = 3, nothing = 4, slower = 5,
                     not_comparable = 6, interrupted = 130;
}

// The worst of `codes` by the precedence 130, 2, 3, 1, 6, 5, 4, 0; a code that is none of them is
// as bad as 1. Nothing at all is 0.
constexpr int worst_exit_code(std::span<const int> codes) {
  const auto rank = [](int code) {
    switch (code) {
      case exit_code::interrupted:
        return 0;
      case exit_code::usage:
        return 1;
      case exit_code::device:
        return 2;
      case exit_code::not_comparable:
        return 4;
      case exit_code::slower:
        return 5;
      case exit_code::nothing:
        return 6;
      case exit_code::ok:
        return 7;
      default:
        return 3;
    }
  };
  int worst = exit_code::ok;
  for (const int code : codes)
    if (rank(code) < rank(worst)) worst = rank(code) == 3 ? exit_code::failed : code;
  return worst;
}

// Of a run's rows alone: failed, crashed, timed out or not run is 1, as are oom and unsupported
// when `strict`; no row that is ok is 4.
inline int exit_code_of_rows(std::span<const Row> rows, bool strict) {
  bool any_ok = false;
  for (const Row& row : rows) {
    const bool excused = row.status == Status::unsupported || row.status == Status::oom;
    if (row.status == Status::ok)
      any_ok = true;
    else if (!excused || strict)
      return exit_code::failed;
  }
  return any_ok ? exit_code::ok : exit_code::nothing;
}

}  // namespace flashbench

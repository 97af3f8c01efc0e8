// What the folder of an implementation declares of it without any of its kernels, and lists of such
// declarations.
#pragma once

#include "flashbench/attention.h"

namespace flashbench::kernels {

struct Facts {
  const char* name;
  const char* idea;     // its one idea, in a sentence
  const char* section;  // of the document that flashbench follows
  uint32_t passes;      // FLASHBENCH_FORWARD, FLASHBENCH_BACKWARD
};

// An implementation is a struct with `facts` and, for each worker that has it, cpu() or cuda(),
// which gives the functions of its row in the table of flashbench/attention.h.
template <class T>
concept OnCpu = requires {
  T::cpu();
};
template <class T>
concept OnCuda = requires {
  T::cuda();
};

// Implementations, or lists of them, in order.
template <class... Members>
struct Implementations {
  // Calls f.template operator()<T>() for every implementation T.
  template <class F>
  static void each(const F& f) {
    (visit<Members>(f), ...);
  }

 private:
  template <class T, class F>
  static void visit(const F& f) {
    if constexpr (requires { T::facts; })
      f.template operator()<T>();
    else
      T::each(f);
  }
};

// A row of the table with what is known of it without its kernels.
inline FlashbenchImplementation named(const Facts& facts, FlashbenchImplementation row) {
  row.name = facts.name;
  row.idea = facts.idea;
  row.section = facts.section;
  row.passes = facts.passes;
  return row;
}

}  // namespace flashbench::kernels

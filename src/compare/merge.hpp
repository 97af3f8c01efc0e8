// Several reports as one, for `flashbench report`. Reads rows only.
#pragma once

#include <string>
#include <vector>

#include "record/row.hpp"

namespace flashbench {

struct NamedReport {
  std::string file;
  Report report;
};

struct Merged {
  Report report;
  // What makes the figures of two files not comparable: "b.json: device.name: A against B".
  std::vector<std::string> differing;
  // Worth saying: rows that a later file replaced, lesser differences.
  std::vector<std::string> notices;
};

// All rows in the files' order; each names its origin. Of rows of one device with the same key the
// later file's counts, in the earlier one's place, unless it was not run. A single report stays as
// it is. `files` is not empty. Pure.
Merged merge(const std::vector<NamedReport>& files);

}  // namespace flashbench

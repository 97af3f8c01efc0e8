// The formats that a report can be written in.
#pragma once

#include <span>

#include "report/report.hpp"

namespace flashbench {

struct Format {
  const char* name;  // of its option: --json FILE
  const char* help;
  std::string (*render)(const Report&, const TableOptions&);
};

std::span<const Format> formats();

}  // namespace flashbench

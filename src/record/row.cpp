#include "record/row.hpp"

namespace flashbench {

double Traffic::total() const {
  double bytes = 0;
  for (const auto& [operand, count] : read) bytes += count;
  for (const auto& [operand, count] : written) bytes += count;
  return bytes;
}

std::string identity(const Row& row) {
  return row.recorded_key.empty() ? key(row.what) : row.recorded_key;
}

}  // namespace flashbench

// What a row counted, in units of the tensors' sizes. All of these rows are fp32.
#pragma once

#include <functional>
#include <string>

#include "claims/select.hpp"

namespace flashbench {

// Judges the longest pair of rows with counts; says why where there is none.
Finding of_counted(const Report&, const Wanted& one, const Wanted& other,
                   const std::function<Finding(const Row&, const Row&)>& judge,
                   Wrong = Wrong::left_out);

double elements(const Row&, const std::string& operand);  // of the whole tensor
double bytes_read(const Row&, const std::string& operand);
double bytes_written(const Row&, const std::string& operand);
// How often the whole tensor was.
double times_read(const Row&, const std::string& operand);
double times_written(const Row&, const std::string& operand);
std::int64_t keys_of(const Row&);
// K/V tiles of a V1 forward: m and l are written in each.
double forward_steps(const Row& v1);
// Likewise of a backward, where they are read.
double backward_steps(const Row& v1);

// Counts are whole numbers in doubles; a quotient of two may be off by its rounding.
bool same(double one, double other);

}  // namespace flashbench

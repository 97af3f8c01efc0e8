// The inputs of a problem, generated or loaded. A generated value depends on seed, tensor and
// logical index (b, s, h, d) alone, never on layout, threads or machine: an integer hash, integer
// sums, one correctly rounded multiplication. Changing any value changes measurement_method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "record/messages.hpp"
#include "worker/tensors.hpp"

namespace flashbench {

// Gets `rows` rows of the tensor, in the order of Problem::layout, from row `first` on.
using RowSink =
    std::function<void(std::int64_t first, std::int64_t rows, const std::byte* elements)>;

// Makes one input tensor (q, k, v or d_o), rounded to the dtype, in pieces and in order. Returns a
// fingerprint of its logical values. A file that is missing or has another shape:
// std::runtime_error.
std::uint64_t make_input(const Problem&, const InputSet&, Tensor, const RowSink&);
// The same with all of the tensor at `to`, which has room for bytes_of(problem, tensor) bytes.
std::uint64_t make_input_at(std::byte* to, const Problem&, const InputSet&, Tensor, const RowSink&);
// The tensors a pass reads, in the order in which checksum() takes their fingerprints.
std::vector<Tensor> inputs_of(Pass);
std::vector<Tensor> outputs_of(Pass);  // statistics aside
// "q-k-v" or "q-k-v-do", each in 16 hexadecimal digits: what a forward reads can be told from it.
std::string checksum(const std::vector<std::uint64_t>& fingerprints);

}  // namespace flashbench

// What --counters asks of a GPU, by the names that CUPTI gives its metrics. Each is of one run of a
// row's pass, over the whole chip; what sets them apart, and from formulas: docs/counters.md.
#pragma once

#include <string>
#include <vector>

namespace flashbench::counters {

// Bytes between DRAM and L2, which softens them.
inline constexpr const char *dram_read = "dram__bytes_read.sum",
                            *dram_written = "dram__bytes_write.sum";
// Bytes between L2 and the multiprocessors, which is what formulas by tile predict.
inline constexpr const char *l2_read = "l1tex__m_xbar2l1tex_read_bytes.sum",
                            *l2_written = "l1tex__m_l1tex2xbar_write_bytes.sum";
// % of the cycles of the run in which the tensor pipes were busy, over all multiprocessors.
inline constexpr const char* tensor_percent =
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
// Accesses of shared memory, of 128 bytes at most each, and those of them that bank conflicts add.
inline constexpr const char *shared_wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
                            *bank_conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum";
inline constexpr double shared_wavefront_bytes = 128;
// % of the cycles of a resident warp in which it waited at a barrier for others of its block.
inline constexpr const char* barrier_percent =
    "smsp__warp_issue_stalled_barrier_per_warp_active.pct";

inline const std::vector<std::string>& all() {
  static const std::vector<std::string> metrics{dram_read,      dram_written,   l2_read,
                                                l2_written,     tensor_percent, shared_wavefronts,
                                                bank_conflicts, barrier_percent};
  return metrics;
}

}  // namespace flashbench::counters

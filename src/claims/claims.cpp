#include "claims/claims.hpp"

#include "claims/findings.hpp"

namespace flashbench {

namespace {

using namespace findings;

constexpr const char *counts = "counted by the CPU's kernels, fp32",
                     *hardware = "the GPU's counters, v1 beside v2 at the longest",
                     *ablation = "time without the idea / time of ladder/logsumexp, above 1",
                     *relative = "time of pytorch-math / theirs at 2k, d 128, each within 20 %";

// Section 1: what ailed V1.
const std::vector<Claim> bottlenecks{
    {"v1-utilisation", "1.1, 8", "V1 reaches 25-40 % of the peak (of an A100)",
     "TFLOPS of v1 fwd / datasheet peak, whole %, at every length", v1_utilization},
    {"compute-bound", "1.1", "with traffic cut down, attention is bound by compute",
     "FLOPs / best product rate over bytes in and out / copy rate, v2: above 1",
     products_outlast_the_least_traffic},
    {"causes-in-order", "1.1", "V1's causes by impact: loop order, non-GEMM work, warp split",
     "order of the three times without the idea / with it", loop_order_pays_most},
    {"extra-traffic", "1.1, 2.1", "V1's loop order costs traffic that V2's does not", hardware,
     v1_moves_more_bytes},
    {"tensor-idle", "1.1, 3.1", "V1's tensor cores are less busy, for the work beside products",
     hardware, v1_keeps_tensor_cores_less_busy},
    {"a100-numbers", "1.2", "an A100 has 312 TFLOPS, 2 TB/s and up to 164 KB shared an SM",
     "the device's facts, bandwidth within 20 %", device_is_the_documents_a100},
    {"warps-a-block", "1.2", "a block often has 4 to 8 warps", "threads launched by v1 and v2 / 32",
     blocks_have_four_to_eight_warps},
};

// Section 2: the loop order.
const std::vector<Claim> loop_order{
    {"few-heads", "2.1", "V1 cannot use the sequence dimension: few heads leave it idle",
     "TFLOPS at few heads in % of those at many: v1's below 0.8 of v2's", few_heads_starve_v1},
    {"grid", "2.1, 2.2", "V1's parallel work are its heads, V2's its heads times Q tiles",
     "blocks launched at the fewest heads: v1's as many, v2's more, and more for more queries",
     tiles_are_parallel_work},
    {"o-once", "2.1, 2.3, 6.2", "V1 touches O 2Tc times in memory, V2 once", counts,
     o_is_touched_once},
    {"q-once", "2.1, 2.3", "V1 loads Q for every K/V tile, V2 once", counts, q_is_loaded_once},
    {"tiles-independent", "2.3", "a Q tile needs nothing of any other", counts,
     q_tiles_need_no_other},
    {"grid-pays", "2.3", "blocks along the sequence make it faster", ablation, grid_over_q_pays},
    {"o-outweighs-kv", "2.3", "cutting the traffic of O outweighs reading K and V again", counts,
     traffic_of_o_outweighs_that_of_k_and_v},
    {"loop-order-pays", "2.3", "Q outside makes it faster", ablation, loop_order_pays},
};

// Section 3: delayed normalisation.
const std::vector<Claim> normalisation{
    {"delayed-exact", "3.2", "normalising once at the end gives the same result",
     "the judge's check of O of v1 and v2", delayed_normalisation_is_exact},
    {"two-divisions", "3.3, 6.2", "2 divisions an element less in each step", counts,
     two_divisions_less},
    {"one-multiplication", "3.3, 6.2", "1 multiplication an element less in each step", counts,
     one_multiplication_less},
    {"one-division", "3.3, 6.2", "one division an element at the end", counts,
     one_division_at_the_end},
    {"savings-add-up", "3.3", "the more steps, the more is saved", counts, savings_grow_with_steps},
    {"delayed-pays", "3.3", "normalising once makes it faster", ablation,
     delayed_normalisation_pays},
};

// Section 4: what warps divide.
const std::vector<Claim> warps{
    {"waits-and-shares", "4.1", "V1's warps wait more, and move more through shared memory",
     hardware, v1_waits_and_shares_more},
    {"no-merges", "4.1, 4.3, 6.2", "V1's warps merge partial results, V2's never", counts,
     warps_along_q_merge_nothing},
    {"no-waits", "4.2, 4.3", "V2's warps never wait for each other's results", counts,
     warps_along_q_do_not_wait},
    {"warps-pay", "4.3", "warps along Q make it faster", ablation, warps_along_q_pay},
};

// Sections 5 and 6: the causal mask, and what the whole forward gives.
const std::vector<Claim> mask_and_forward{
    {"causal-exact", "5.1", "masked scores contribute nothing",
     "the judge's check of O of v1 and v2, causal", masked_scores_count_for_nothing},
    {"masked-half", "5.2, 6.2", "without a skip the masked half is computed too", counts,
     masked_half_is_computed_without_skip},
    {"masked-time", "5.2", "without a skip causal takes as long as full",
     "time of full / time of causal of v1 at the longest is 1: its interval within 20 %",
     masked_takes_as_long_without_skip},
    {"block-skip", "5.3, 6.2", "blocks above the diagonal are skipped, those on it masked", counts,
     blocks_above_the_diagonal_are_skipped},
    {"early-exit", "5.4", "each block walks K and V only up to the diagonal", counts,
     steps_end_at_the_diagonal},
    {"causal-half", "5.4", "the causal skip about halves the time",
     "time of full / time of causal of v2 at the longest is 2: its interval within 20 %",
     causal_takes_half_the_time},
    {"logsumexp", "6.1", "L = m + log(l) is a row's logsumexp", "the judge's check of L of v2",
     saved_row_is_the_logsumexp},
};

// Section 7: the backward.
const std::vector<Claim> backward{
    {"half-the-statistics", "7.1, 6.2", "L alone is half of m and l",
     "bytes saved for the backward", statistics_are_halved},
    {"p-from-l", "7.1", "P = exp(S - L) needs no division", counts,
     p_is_recovered_without_division},
    {"kv-outside", "7.2", "in the backward K and V are outside, in V1 as in V2", counts,
     k_and_v_stay_outside},
    {"dk-dv-one-block", "7.2", "dK and dV of a tile are one block's alone", counts,
     dk_and_dv_have_one_writer},
    {"dq-across-blocks", "7.2", "dQ is added up across blocks", counts,
     dq_is_added_up_across_blocks},
    {"d-identity", "7.3", "rowsum(dP * P) = rowsum(dO * O)",
     "the judge's check of dQ by either side", both_sides_of_d_agree},
    {"d-short", "7.3", "D takes d elements of O a row, whatever the length", counts,
     d_takes_a_head_dimension_a_row},
    {"d-once", "7.3", "V2 computes D once beforehand, V1 in every tile", counts,
     d_is_computed_once},
};

// Section 8: figures.
const std::vector<Claim> performance{
    {"v2-utilisation", "8.1", "V2 reaches 50-73 % of the peak (of an A100)",
     "TFLOPS of v2 fwd / datasheet peak, whole %, at every length", v2_utilization},
    {"table-tflops", "8.1", "an A100's TFLOPS of V1 and V2 at 1k to 8k",
     "those of v1 and v2 fwd on an A100, within 20 %", throughput_of_the_table},
    {"always-faster", "8.1", "V2 is faster than V1 at every length",
     "time of v1 / time of v2, lower end above 1", v2_is_always_faster},
    {"v2-over-v1", "8.1", "V2 is about 1.6 times as fast as V1",
     "time of v1 / time of v2, mean over lengths: its interval within 20 %", v2_over_v1},
    {"order", "8.2", "from slow to fast: PyTorch's standard, V1, xFormers, V2",
     "each time over the next at 2k, d 128, fwd and bwd, above 1", v2_leads_and_xformers_follows},
    {"relative-forward", "8.2", "forward, times PyTorch's standard: V1 2.8, V2 4.3, xFormers 3.1",
     relative, relative_forward},
    {"relative-backward", "8.2", "backward, times PyTorch's standard: V1 2.5, V2 3.9, xFormers 2.8",
     relative, relative_backward},
    {"memory-growth", "8.3", "standard attention's memory grows as N^2, V2's as N",
     "declared bytes of fwd+bwd at three lengths", memory_grows_linearly},
    {"memory-table", "8.3", "128 MB, 2 GB, 32 GB against 4, 16, 64 MB at 4k, 16k, 64k",
     "needs the shape that they are of", memory_of_the_table},
    {"standard-oom", "8.3", "at 64k standard attention is out of memory",
     "status of naive fwd+bwd at 64k", standard_attention_is_out_of_memory_at_64k},
};

std::vector<Claim> all() {
  std::vector<Claim> joined;
  for (const auto* section : {&bottlenecks, &loop_order, &normalisation, &warps, &mask_and_forward,
                              &backward, &performance})
    joined.insert(joined.end(), section->begin(), section->end());
  return joined;
}

}  // namespace

const std::vector<Claim>& claims() {
  static const std::vector<Claim> table = all();
  return table;
}

std::vector<JudgedClaim> judge_claims(const Report& report) {
  std::vector<JudgedClaim> judged;
  for (const Claim& claim : claims()) judged.push_back({&claim, claim.judge(report)});
  return judged;
}

}  // namespace flashbench

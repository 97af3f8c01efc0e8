// One function a claim; the table in claims.cpp says which claim each decides.
#pragma once

#include "claims/claims.hpp"

namespace flashbench::findings {

// By what the CPU's implementations counted: forward.
Finding o_is_touched_once(const Report&);
Finding q_is_loaded_once(const Report&);
Finding traffic_of_o_outweighs_that_of_k_and_v(const Report&);
Finding two_divisions_less(const Report&);
Finding one_multiplication_less(const Report&);
Finding one_division_at_the_end(const Report&);
Finding warps_along_q_merge_nothing(const Report&);
Finding warps_along_q_do_not_wait(const Report&);
Finding q_tiles_need_no_other(const Report&);
Finding savings_grow_with_steps(const Report&);

// The causal mask, by counts, checks and times.
Finding masked_scores_count_for_nothing(const Report&);
Finding masked_half_is_computed_without_skip(const Report&);
Finding masked_takes_as_long_without_skip(const Report&);
Finding blocks_above_the_diagonal_are_skipped(const Report&);
Finding steps_end_at_the_diagonal(const Report&);
Finding causal_takes_half_the_time(const Report&);

// Backward.
Finding p_is_recovered_without_division(const Report&);
Finding k_and_v_stay_outside(const Report&);
Finding dk_and_dv_have_one_writer(const Report&);
Finding dq_is_added_up_across_blocks(const Report&);
Finding both_sides_of_d_agree(const Report&);
Finding d_takes_a_head_dimension_a_row(const Report&);
Finding d_is_computed_once(const Report&);

// By a GPU's counters, by the device and its ceilings.
Finding v1_moves_more_bytes(const Report&);
Finding v1_keeps_tensor_cores_less_busy(const Report&);
Finding v1_waits_and_shares_more(const Report&);
Finding products_outlast_the_least_traffic(const Report&);
Finding device_is_the_documents_a100(const Report&);
Finding blocks_have_four_to_eight_warps(const Report&);

// By errors, launches and memory.
Finding delayed_normalisation_is_exact(const Report&);
Finding saved_row_is_the_logsumexp(const Report&);
Finding statistics_are_halved(const Report&);
Finding memory_grows_linearly(const Report&);
Finding memory_of_the_table(const Report&);
Finding standard_attention_is_out_of_memory_at_64k(const Report&);

// By what can run at once, and its times at few heads.
Finding tiles_are_parallel_work(const Report&);
Finding few_heads_starve_v1(const Report&);

// By times.
Finding v1_utilization(const Report&);
Finding v2_utilization(const Report&);
Finding v2_over_v1(const Report&);
Finding v2_is_always_faster(const Report&);
Finding throughput_of_the_table(const Report&);
Finding v2_leads_and_xformers_follows(const Report&);
Finding relative_forward(const Report&);
Finding relative_backward(const Report&);
Finding loop_order_pays(const Report&);
Finding grid_over_q_pays(const Report&);
Finding delayed_normalisation_pays(const Report&);
Finding warps_along_q_pay(const Report&);
Finding loop_order_pays_most(const Report&);

}  // namespace flashbench::findings

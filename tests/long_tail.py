"""Tests that take long and prove what others prove too: `make test-deep` runs all of them, `make test` some or none.

A table of what a commit does without: the test, every how many of its parameters it runs all the same, and where
none is, what proves the same sort of thing on each commit.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Long:
    """A test, by its file and name.  one_in: of so many parameters one is run on every commit; 0: none is.

    instead: what is run on every commit instead, where none is.
    """

    test: str
    one_in: int
    instead: str = ""


LONG = (
    Long("api/distribution/test_distributions.py::test_a_forced_distribution_gives_the_same", 2),
    Long("api/distribution/test_kernel.py::test_every_border_is_the_neighbours_rows", 2),
    Long("api/distribution/test_kernel.py::test_several_devices_compute_what_one_does", 2),
    Long("api/distribution/test_kernel.py::test_there_may_be_fewer_elements_than_devices", 2),
    Long("api/distribution/test_platforms.py::test_a_gpu_and_a_cpu_compute_what_one_does", 2),
    Long("api/distribution/test_platforms.py::test_they_exchange_borders", 2),
    Long("api/distribution/test_programs.py::test_other_programs_are_right_too", 3),
    Long("api/distribution/test_streaming.py::test_a_device_with_little_memory_computes_in_blocks", 2),
    Long("api/test_cluster.py::test_workers_compute_what_one_device_does", 3),
    Long("api/test_donated_inputs.py::test_arrays_on_the_device_are_overwritten", 2),
    Long("api/test_export.py::test_an_exported_program_computes_its_results", 2),
    Long("api/test_half_precision.py::test_kernels_compute_what_numpy_computes_in_f32", 3),
    Long("api/test_histograms.py::test_counts_of_vectors_of_any_length", 2),
    Long("api/test_inputs_and_results.py::test_arrays_of_length_nought", 2),
    Long("api/test_iterated.py::test_kernels_take_all_steps", 4),
    Long("api/test_large_constants.py::test_elements_of_every_type_reach_it", 2),
    Long("api/test_launches.py::test_an_input_named_like_a_buffer_is_told_apart", 2),
    Long("api/test_length_kernel.py::test_kernels_are_right_at_every_short_length", 2),
    Long("api/test_length_kernel.py::test_kernels_are_right_at_the_edges_of_tiles", 4),
    Long("api/test_length_kernel.py::test_programs_of_all_kinds_take_any_length", 2),
    Long("api/test_parts.py::test_what_optimize_chooses_is_right", 2),
    Long("api/test_programs.py::test_a_program_equals_numpy_and_no_candidate_fails", 5),
    Long("api/test_random_calls.py::test_random_calls_end_as_in_numpy", 2),
    Long("api/test_recurrences.py::test_every_candidate_takes_all_steps", 5),
    Long("api/test_recurrences.py::test_no_steps_leave_the_state_as_it_is", 3),
    Long(
        "api/test_rulecheck.py::test_a_sound_law_is_not_blamed_for_another_of_its_file",
        0,
        "the law that is wrong is named",
    ),
    Long("api/test_scans.py::test_scans_within_programs", 4),
    Long("api/test_search.py::test_a_product_at_its_best_needs_no_laws", 0, "schedules are left out as a law is"),
    Long("api/test_search.py::test_half_of_a_symmetric_product_needs_no_laws", 0, "halves are offered, in schedules"),
    Long("api/test_strided_arrays.py::test_jit_reads_arrays_on_the_device_where_they_lie", 2),
    Long("api/test_strided_arrays.py::test_jit_reads_arrays_where_they_lie", 3),
    Long("api/test_strided_arrays.py::test_kernels_pack_arrays_on_the_device", 2),
    Long("api/test_variants.py::test_few_variants_serve_all_lengths", 2),
    Long("api/test_variants.py::test_no_variant_for_most_lengths_is_for_one_length", 4),
    Long("api/test_variants.py::test_one_variant_serves_most_lengths", 3),
    Long("api/test_variants.py::test_the_plan_of_plain_numbers_agrees", 2),
    Long("api/test_variants.py::test_what_is_traced_anew_is_the_same", 4),
    Long("benchmarks/fair/test_cupy_kernels.py::test_a_kernel_for_cupy_means_what_numpy_says", 2),
    Long(
        "benchmarks/handwritten/test_kernels.py::test_a_run_prints_keeps_and_counts",
        0,
        "a run beside peers prints, keeps and counts",
    ),
    Long("benchmarks/test_lines.py::test_both_programs_compute_the_same", 4),
    Long("benchmarks/test_neighbours.py::test_a_neighbour_means_what_its_kind_says", 2),
    Long(
        "benchmarks/test_scaling.py::test_programs_that_are_shared_out_are_those_of_one_device",
        0,
        "api/distribution shares the same programs out",
    ),
    Long("benchmarks/test_stencils.py::test_it_runs_as_it_is_found", 2),
    Long("benchmarks/test_stencils.py::test_it_runs_as_it_is_written", 2),
    Long(
        "benchmarks/test_tuner.py::test_a_space_is_all_choices_that_fit_and_differ",
        0,
        "spaces of small programs are searched",
    ),
    Long(
        "benchmarks/test_tuner.py::test_of_a_large_space_there_are_fewer_options_of_each",
        0,
        "a space is all choices that fit",
    ),
    Long("codegen/emission/test_boundaries.py::test_a_grid_goes_on_as_it_should", 4),
    Long("codegen/emission/test_boundaries.py::test_tiles_go_on_as_the_grid_does", 2),
    Long("codegen/emission/test_edge_tiles.py::test_neighbours_are_summed", 2),
    Long("codegen/emission/test_lanes.py::test_each_lane_has_a_value_of_its_own", 2),
    Long("codegen/emission/test_lanes.py::test_lanes_read_their_registers_each_at_its_own_place", 2),
    Long("codegen/emission/test_linked.py::test_linked_groups_compute_scans", 2),
    Long("codegen/emission/test_padded.py::test_tiles_of_work_groups_multiply", 2),
    Long("codegen/emission/test_padded.py::test_windows_along_a_row_are_right_at_both_ends", 2),
    Long("codegen/emission/test_registers.py::test_blocks_of_registers_multiply", 3),
    Long("codegen/emission/test_registers.py::test_neighbours_in_registers_are_summed", 3),
    Long("codegen/emission/test_tiles.py::test_tiled_products_are_products", 2),
    Long("codegen/export/test_c99.py::test_the_example_computes_the_programs_meaning", 2),
    Long("codegen/kernel/test_index_proofs.py::test_indices_keep_their_value_for_all_variables", 2),
    Long("codegen/kernel/test_index_proofs.py::test_what_guards_in_force_simplify_holds_inside_of_them", 2),
    Long(
        "codegen/kernel/test_index_proofs.py::test_wrong_rules_are_refuted_with_a_counterexample",
        0,
        "planted faults are found, in verify",
    ),
    Long("codegen/kernel/test_verify.py::test_a_fault_planted_anywhere_in_a_real_kernel_is_found", 2),
    Long("codegen/opencl/test_conversions.py::test_floats_saturate_in_kernels_too", 2),
    Long("codegen/opencl/test_conversions.py::test_integers_wrap_around", 2),
    Long("codegen/opencl/test_conversions.py::test_vectors_saturate_as_numbers_do", 2),
    Long("codegen/opencl/test_scalar_functions.py::test_gpu_kernels_move_unaligned_wide_vectors_in_pieces", 2),
    Long("codegen/terms/test_storing.py::test_what_is_stored_is_right", 2),
    Long("codegen/test_constants.py::test_boundary_values_and_seeds_keep_every_bit", 2),
    Long("codegen/test_constants.py::test_functions_of_numbers_alone_are_numpys", 2),
    Long("codegen/test_constants.py::test_functions_take_numbers_of_their_own_type", 3),
    Long("codegen/test_constants.py::test_single_numbers_keep_every_bit", 2),
    Long("codegen/test_constants.py::test_tables_that_are_gathered_from_keep_every_bit", 2),
    Long("codegen/test_convolution_forms.py::test_every_kernel_of_table_1_computes_the_convolution", 2),
    Long("codegen/test_emitted.py::test_the_last_group_computes_what_a_kernel_would", 2),
    Long("codegen/test_integer_kinds.py::test_division_by_a_number_of_the_program_is_numpys", 2),
    Long("codegen/test_reduction_forms.py::test_the_third_program_sums_whatever_its_block_size", 2),
    Long("egraph/distribution/test_distribute.py::test_what_is_zipped_is_computed_by_who_has_it", 2),
    Long(
        "egraph/explanation/test_derive.py::test_a_tiled_product_is_derived_by_the_known_laws",
        0,
        "the first choices of programs are derived",
    ),
    Long(
        "egraph/explanation/test_derive.py::test_each_law_rewrites_what_the_laws_before_it_have_made",
        0,
        "the laws of a derivation lead to its program",
    ),
    Long("egraph/explanation/test_derive.py::test_the_first_choice_for_any_program_has_a_derivation", 2),
    Long(
        "egraph/explanation/test_derive.py::test_what_a_rewrite_takes_was_made_before",
        0,
        "the laws of a derivation lead to its program",
    ),
    Long("egraph/explanation/test_embedding.py::test_a_graph_is_embedded_in_itself", 2),
    Long("egraph/explanation/test_embedding.py::test_a_graph_under_fewer_laws_is_part_of_the_graph_under_all", 2),
    Long(
        "egraph/extraction/test_extract.py::test_a_long_chain_of_maps_is_no_deeper_than_python_can_go",
        0,
        "long chains are optimised, in faults",
    ),
    Long("egraph/extraction/test_extract.py::test_bodies_attract_each_other_with_and_without_a_tile", 2),
    Long("egraph/extraction/test_extract.py::test_candidates_differ_in_structure", 2),
    Long("egraph/extraction/test_extract.py::test_every_candidate_means_what_the_program_means", 2),
    Long("egraph/extraction/test_extract.py::test_levels_nest_as_opencl_allows", 3),
    Long("egraph/extraction/test_extract.py::test_what_follows_a_product_is_done_by_its_kernel", 2),
    Long("egraph/graph/test_membership.py::test_members_are_proved_equal_by_the_laws_from_right_to_left", 3),
    Long("egraph/graph/test_membership.py::test_members_compute_what_the_program_computes", 3),
    Long("egraph/rules/test_canaries.py::test_what_is_different_stays_different", 2),
    Long("egraph/rules/test_conditions.py::test_without_what_it_needs_a_law_is_refuted", 2),
    Long("egraph/rules/test_conditions.py::test_without_what_only_prunes_a_law_still_holds", 2),
    Long("egraph/rules/test_length_proofs.py::test_the_lengths_in_every_rule_agree", 2),
    Long("egraph/rules/test_macro_laws.py::test_the_laws_that_are_listed_are_not_derived", 2),
    Long(
        "egraph/rules/test_proofs.py::test_no_law_of_an_explanation_can_be_left_out", 0, "an explanation names its laws"
    ),
    Long("egraph/rules/test_proofs.py::test_the_forms_do_not_equal_the_other_program", 3),
    Long("egraph/rules/test_rows_in_lanes.py::test_lanes_go_through_rows_and_one_by_one_the_rest", 3),
    Long("egraph/rules/test_stencil_proofs.py::test_every_kernel_of_table_1_is_derived", 2),
    Long(
        "egraph/rules/test_stencil_proofs.py::test_listing_18_needs_every_optimisation_of_the_thesis",
        0,
        "every listing is derived",
    ),
    Long("egraph/rules/test_stencils.py::test_bodies_are_applied_to_what_they_take", 2),
    Long("egraph/rules/test_stencils.py::test_every_stencil_saturates_within_the_limits", 2),
    Long("egraph/rules/test_stencils.py::test_members_compute_what_the_stencil_computes", 3),
    Long(
        "egraph/rules/test_stencils.py::test_separated_weights_are_two_kernels",
        0,
        "listings of separated weights are derived",
    ),
    Long("egraph/rules/test_stencils.py::test_tiles_are_found_in_local_memory_and_in_registers", 2),
    Long("egraph/saturation/test_saturate.py::test_every_body_fits_what_it_is_applied_to", 2),
    Long("egraph/saturation/test_saturate.py::test_programs_saturate_in_a_few_thousand_rows", 2),
    Long(
        "egraph/saturation/test_saturate.py::test_the_same_program_gives_the_same_graph_in_every_process",
        0,
        "every process finds the same programs",
    ),
    Long("egraph/saturation/test_subprocess_run.py::test_what_ends_it_is_said_with_its_last_word", 2),
    Long("egraph/schedules/test_again.py::test_gathered_elements_are_made_again", 2),
    Long("egraph/schedules/test_again.py::test_steps_make_an_equal_program_of_other_lengths", 2),
    Long("egraph/schedules/test_again.py::test_steps_make_the_very_term_that_was_chosen", 2),
    Long(
        "egraph/schedules/test_batches.py::test_results_of_a_chain_are_written_by_one_kernel",
        0,
        "a chain in one kernel is offered",
    ),
    Long("egraph/schedules/test_batches.py::test_the_search_offers_a_chain_in_one_kernel", 2),
    Long("egraph/schedules/test_chained_tiles.py::test_a_chain_of_tiles_means_the_same", 3),
    Long(
        "egraph/schedules/test_chained_tiles.py::test_a_small_product_of_long_rows_is_computed_once",
        0,
        "the search of attention chooses a chain",
    ),
    Long(
        "egraph/schedules/test_chained_tiles.py::test_few_rows_are_shared_out_in_pieces",
        0,
        "pieces are added up, of smaller programs",
    ),
    Long("egraph/schedules/test_chained_tiles.py::test_loops_end_where_a_mask_leaves_nothing", 2),
    Long(
        "egraph/schedules/test_chained_tiles.py::test_scores_are_no_array_and_accumulators_registers",
        0,
        "the search of attention chooses a chain",
    ),
    Long(
        "egraph/schedules/test_choices.py::test_a_cpu_stores_what_a_product_needs_again",
        0,
        "what is read again is stored, in partition",
    ),
    Long(
        "egraph/schedules/test_choices.py::test_a_gpu_may_write_what_many_tiles_would_compute",
        0,
        "the cases of cliffs have such products",
    ),
    Long("egraph/schedules/test_choices.py::test_chosen_programs_mean_what_was_given", 2),
    Long("egraph/schedules/test_choices.py::test_sums_of_products_with_few_tiles_are_shared_out", 2),
    Long("egraph/schedules/test_count_choices.py::test_kernels_count", 3),
    Long("egraph/schedules/test_counted.py::test_counts_and_registers_are_those_of_the_plan", 2),
    Long("egraph/schedules/test_counted.py::test_prices_rank_as_the_exact_model_does", 2),
    Long("egraph/schedules/test_fragments.py::test_kernels_of_fragments_compute_their_program", 3),
    Long("egraph/schedules/test_halves.py::test_halves_are_not_taken_where_they_do_not_pay", 3),
    Long("egraph/schedules/test_halves.py::test_kernels_of_halves_compute_the_whole", 2),
    Long("egraph/schedules/test_halves.py::test_kernels_of_halves_have_no_races", 3),
    Long("egraph/schedules/test_halves.py::test_large_symmetric_results_are_computed_by_halves", 2),
    Long("egraph/schedules/test_held_rows.py::test_a_kernel_of_held_rows_computes_the_same", 3),
    Long("egraph/schedules/test_integer_fragments.py::test_sums_of_products_of_bytes_are_exact", 2),
    Long("egraph/schedules/test_kept_results.py::test_gathered_elements_are_those_of_the_stage", 2),
    Long("egraph/schedules/test_kept_results.py::test_kernels_that_gather_compute_their_program", 3),
    Long("egraph/schedules/test_kept_results.py::test_kernels_that_gather_have_no_races", 3),
    Long("egraph/schedules/test_lower.py::test_kernels_of_schedules_compute_their_program", 3),
    Long("egraph/schedules/test_narrow_fragments.py::test_kernels_of_fragments_compute_their_program", 5),
    Long("egraph/schedules/test_one_reading.py::test_a_result_of_rows_read_once_is_the_same", 3),
    Long("egraph/schedules/test_one_reading.py::test_kernels_that_read_rows_once_compute_the_same", 3),
    Long("egraph/schedules/test_one_reading.py::test_kernels_that_the_search_offers_compute_the_same", 3),
    Long(
        "egraph/schedules/test_one_reading.py::test_teams_of_a_group_have_no_races",
        0,
        "other kernels of several teams run clean",
    ),
    Long("egraph/schedules/test_products_in_programs.py::test_products_take_matrix_units_beside_anything", 2),
    Long("egraph/schedules/test_reduced_tiles.py::test_a_result_of_tiles_in_registers_is_the_same", 2),
    Long("egraph/schedules/test_runs.py::test_every_run_of_a_class_means_the_same", 2),
    Long(
        "egraph/schedules/test_scan_structures.py::test_a_few_long_scans_side_by_side_are_tried_apart_too",
        0,
        "scans of few rows are tried in chunks",
    ),
    Long("egraph/schedules/test_scan_structures.py::test_kernels_of_scans_have_no_races", 2),
    Long("egraph/schedules/test_scan_structures.py::test_many_columns_are_scanned_in_place_by_one_kernel", 2),
    Long(
        "egraph/schedules/test_scan_structures.py::test_runs_and_places_in_them_are_found_in_one_scan",
        0,
        "scans of pairs are one kernel",
    ),
    Long("egraph/schedules/test_scan_structures.py::test_structures_mean_what_their_stage_means", 5),
    Long("egraph/schedules/test_streamed.py::test_closed_prices_of_copied_tiles_are_of_legal_kernels", 2),
    Long("egraph/schedules/test_streamed.py::test_kernels_that_copy_ahead_compute_their_program", 5),
    Long("egraph/schedules/test_streamed.py::test_large_products_are_found_by_copying_ahead", 2),
    Long("egraph/schedules/test_structures.py::test_structures_mean_what_their_stage_means", 2),
    Long("egraph/soundness/test_check_laws.py::test_a_wrong_law_is_shown_by_a_program_that_can_be_pasted", 3),
    Long("egraph/stages/test_adjacent.py::test_structures_of_fewer_dimensions_mean_the_same", 3),
    Long("egraph/stages/test_mirrored.py::test_blocks_of_any_side_make_up_the_whole", 5),
    Long("egraph/stages/test_numbers.py::test_kernels_are_given_numbers_that_there_are", 4),
    Long("faults/test_bools.py::test_any_byte_but_0_is_true_to_all_candidates", 4),
    Long("faults/test_large.py::test_megabytes_of_program_are_read_typed_and_interpreted", 2),
    Long("faults/test_leaks.py::test_memory_is_flat_over_many_calls", 3),
    Long("frontend/test_both_ends.py::test_random_nests_come_out_as_gcc_compiles_them", 4),
    Long("ir/test_integer_powers.py::test_counted_bits_are_those_of_absolute_values", 2),
    Long("ir/test_integer_powers.py::test_powers_of_integers_are_numpys", 3),
    Long("ir/test_numpy_names.py::test_what_does_not_fit_is_an_error_that_says_so", 5),
    Long("ir/test_recurrences.py::test_kernels_of_recurrences_compute_them", 3),
    Long("test_races.py::test_the_kernels_of_a_program_run_clean", 3),
)


def mark_long_tail(items: list[pytest.Item]) -> None:
    """Marks `deep` what a commit does without.  Parameters are counted as they come."""
    one_in, seen = {x.test: x.one_in for x in LONG}, dict[str, int]()
    for item in items:
        test = item.nodeid.split("[")[0].removeprefix("tests/")
        if test in one_in:
            n = seen[test] = seen.get(test, -1) + (item.get_closest_marker("deep") is None)
            if not one_in[test] or n % one_in[test]:
                item.add_marker(pytest.mark.deep)

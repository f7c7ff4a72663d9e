"""What `check` says to the first attempts of a beginner. `python -m tests.hidden.first_attempts 01` prints a table.

A module of `tests/hidden/mutants` may have `FIRST_ATTEMPTS`, wrong answers with words that each has to hear, from
`check` and at grading. First attempts that are a misconception's own code stand in `WRITTEN_FIRST`, and hear its hint.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from course.judge.report import headline, text
from course.notebook.checking import public_verdict
from course.syllabus import Topic
from tests.original import find, find_topic

WRITTEN_FIRST = {
    "count_ngrams": "lists_for_keys",
    "transition_matrix": "counts_not_divided",
    "perplexity": "sign_lost logarithm_of_the_logarithms base_two_for_e summed mean_of_perplexities",
    "sample_text": "always_the_likeliest down_the_columns",
    "build_vocab": (
        "by_appearance_and_nothing_left_out ties_by_appearance ties_backwards rarest_first "
        "no_place_for_the_unknown above_the_threshold_only counts_for_ids"
    ),
    "bag_of_words": "unknown_words_crash unknown_words_dropped presence_for_counts one_row_for_all",
    "context_windows": "ends_cut_short",
    "cross_entropy": "overflows logarithm_of_zero every_target_of_every_row",
    "cbow_logits": (
        "sum_of_the_context mean_over_the_batch mean_over_the_numbers_of_a_vector W_in_front W_not_transposed "
        "ids_multiplied ids_averaged"
    ),
    "nearest": "dot_product_and_itself self_included cosines_for_words farthest_first dot_product",
    "cbow_task": (
        "never_trained another_gap stopped_on_the_way target_inside_the_context frequencies_alone "
        "one_table_for_both softmax_in_the_model"
    ),
    "rnn_cell": "weights_in_front weights_not_transposed W_h_not_transposed no_bias",
    "rnn_forward": (
        "walks_along_the_batch_and_stacks_alike time_first states_side_by_side state_not_carried one_step_late"
    ),
    "bptt": "state_after_the_step index_minus_one W_h_not_turned_around delta_for_h0 bias_for_each_sequence",
    "clip_grad_norm": "gradients_alone stacked",
    "ElmanClassifier": "TanhForRelu",
    "generate": (
        "always_the_likeliest feeds_the_start_every_time state_not_carried_on softmax_over_the_wrong_axis "
        "logits_for_probabilities"
    ),
    "scheduled_inputs": "one_coin_for_a_sentence the_other_way_round shares_of_both normal_for_uniform",
    "gated_cell": (
        "weights_in_front weights_not_transposed gate_left_as_a_sum candidate_added_whole gate_with_the_candidates_bias"
    ),
    "lstm_cell": (
        "lstm_weights_in_front cut_along_the_batch pieces_of_four_numbers order_of_the_text "
        "sigmoid_before_the_candidates_tanh tanh_around_the_product"
    ),
    "gru_cell": (
        "without_the_reset reset_of_the_whole_sum cut_along_the_batch whole_U_for_the_candidate squares_turned "
        "reset_after_U_and_z_writes"
    ),
    "peephole_lstm_cell": (
        "o_sees_the_old_cell peepholes_by_a_product peepholes_without_the_cell peepholes_outside_the_sigmoid"
    ),
    "run_bidirectional": (
        "not_put_back_in_order batch_for_time first_token_never_read starts_where_the_other_ended last_states_alone"
    ),
    "lstm_parameters": "one_gate upper_layers_read_the_input no_bias one_number_for_each_gate two_biases",
    "GatedClassifier": "EveryLengthForEachSequence EveryState",
    "additive_scores": "W_in_front queries_without_an_axis v_in_front not_summed summed_over_the_keys",
    "dot_scores": (
        "query_without_an_axis every_query_with_every_key every_key_with_every_query all_axes_turned "
        "dot_summed_over_the_keys"
    ),
    "general_scores": "every_query_with_every_key W_in_front_of_the_keys query_without_an_axis",
    "attend": (
        "masked_after_the_softmax not_a_number_where_nothing_is_allowed mask_inverted_with_minus_infinity "
        "masked_with_zero shares_of_exponentials weights_of_every_sentence weights_without_an_axis "
        "summed_over_the_width"
    ),
    "shift_right": "sos_as_a_number sos_as_a_vector keeps_the_last wraps_around first_replaced",
    "bahdanau_attention_task": (
        "AlwaysTheSameDate NeverTrained WritesOtherDates WritesNoDates StoppedOnTheWay NeverEnds"
    ),
    "softmax": (
        "overflows one_sum_for_everything_and_no_shift sums_lose_their_axis_and_no_shift maximum_with_its_place "
        "divided_by_the_sum_of_scores always_the_last_axis"
    ),
    "attention_for_one": (
        "query_before_the_keys softmax_over_a_second_axis score_not_scaled divided_by_two weights_for_output "
        "weights_beside_the_width summed_over_the_width"
    ),
    "scaled_dot_product_attention": (
        "k_not_turned all_axes_of_k_turned softmax_over_queries scaled_by_the_number_of_sentences "
        "values_before_the_weights"
    ),
    "self_attention": "weights_in_front weights_not_transposed weights_returned_too words_used_as_values scaled_twice",
    "attention_cost": "carets_for_powers exchanged pairs_without_width",
    "crossover_length": "output_projection_forgotten",
    "is_permutation_equivariant": (
        "sentences_reordered asks_if_for_a_table returns_a_table tests_invariance bit_for_bit"
    ),
    "self_attention_task": (
        "no_better_than_guessing the_same_for_every_list learns_too_little remembers_only_the_last_pair "
        "names_the_most_frequent_digit other_pairs_join_in place_matters_more_than_the_query nearly_there"
    ),
    "multi_head_parameters": "heads_read_and_write_their_share_only one_head_alone",
    "multi_head_attention_task": (
        "never_trained children_mixed_up questions_exchanged knows_friends_mostly knows_rivals_mostly nearly_there "
        "has_hardly_begun"
    ),
    "positional_encoding_task": (
        "echoes_the_neighbour says_the_next_letter names_a_frequent_letter says_it_at_once looks_ahead never_trained"
    ),
    "masked_softmax": "divided_by_nothing nan_over_nothing",
    "mlm_corrupt": "words_drawn_over_masks one_number_for_two_questions",
    "masking_task": (
        "never_trained frequencies_alone says_what_it_reads another_question sees_the_whole_sentence diverged"
    ),
    "decode_beam": "eos_not_counted",
    "lora_task": "trained_only_the_head trained_only_biases",
    "cached_attention": (
        "values_rotated mask_aligned_at_the_top_left cached_keys_rotated_again sees_the_future past_not_read"
    ),
    "GPT": (
        "NoResidualAroundAttention NoResidualAroundTheFeedForward ResidualNormed GateAndUpExchanged NoNormAtTheEnd"
    ),
    "merge_blocks": "sums_added_as_they_are old_output_not_rescaled output_divided",
    "blockwise_attention": "a_table_of_all_scores each_block_its_own_softmax upper_left_diagonal empty_rows_are_nan",
    "window_mask": (
        "own_key_not_counted half_on_each_side global_tokens_only_look global_tokens_see_the_future true_where_hidden"
    ),
    "reach": "residual_forgotten one_layer_only one_layer_too_many",
    "RollingCache": "PositionsOfTheCache KeepsAWholeWindow CutBeforeThePromptHasReadIt MinusNought KeepsAView",
    "relative_buckets": "query_minus_key keys_behind_by_their_size no_last_bucket all_buckets_on_each_side",
    "step_time": "weights_read_for_each_text keys_without_values new_tokens_see_all both_times_added",
    "accept_draft": "drawn_from_p_after_a_refusal goes_on_behind_a_refusal no_token_behind_all",
    "distillation_loss": (
        "divided_by_the_batch_alone cross_entropy_for_the_divergence no_square_of_the_temperature arguments_exchanged "
        "the_teacher_learns"
    ),
    "cost_task": (
        "never_trained targets_of_the_place_before targets_of_the_place_behind likeliest_token_as_target "
        "stopped_on_the_way"
    ),
    "logit_lens": "no_norm probabilities",
    "direct_attribution": "each_part_by_its_own_scale no_norm",
    "induction_score": "the_token_itself mean_over_all_places",
    "patch": "hook_left_on hook_returns_nothing where_inverted",
    "control_labels": "a_label_a_token labels_shuffled uniform_labels",
    "SparseAutoencoder": "LengthsForgotten MeanOverTheWidth NoReLU",
    "inside_task": "no_penalty penalty_cheated all_features_dead",
    "choose_by_likelihood": "prompt_counted logits_one_late always_the_mean raw_logits",
    "wilson_interval": "wald",
    "calibration_error": "ones_lost bins_count_alike signs_cancel",
    "extract_answer": "first_number last_number last_number_behind_a_sign behind_the_first_sign what_int_takes",
    "pass_at_k": "put_back all_wrong share_right",
    "majority_vote": "none_wins zero_is_no_vote of_equals_the_smallest of_equals_the_last",
    "best_of_n": "each_equal_gets_all sorted_without_equals share_of_nothing density",
    "rollout": "end_not_own padding_counted log_p_without_the_temperature drawn_without_the_temperature",
    "reinforce_loss": "mean_of_the_group no_others no_baseline divided_by_the_length sign_turned mask_forgotten",
    "clipped_loss": (
        "clipped_alone larger_of_the_two not_clipped mean_of_the_answers_means chosen_behind_the_exponential"
    ),
    "reasoning_task": "no_better a_little",
    "kl_estimate": "turned_round square_without_its_half",
    "discounted_advantages": "padding_has_a_value masked_at_the_end lambda_forgotten values_forgotten",
}
"""The misconceptions of each exercise that beginners write first, or that their models show."""


def first_attempts(topic: Topic, exercise: str) -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Yield the first attempts at an exercise by name, each with words that `check` has to say."""
    name = f"tests.hidden.mutants.{topic.name}.{exercise}"
    written = getattr(import_module(name), "FIRST_ATTEMPTS", {}) if find_spec(name) else {}
    for attempt, words in written.items():
        yield attempt.__name__, attempt, words
    if exercise in WRITTEN_FIRST:
        known = {one.name: one for one in find(exercise).misconceptions}
        for one in map(known.__getitem__, WRITTEN_FIRST[exercise].split()):
            yield one.name, one.wrong, one.hint


def heard(exercise: str, attempt: Callable[..., Any]) -> str:
    """Return the report that `check` prints to an attempt, in one line, without its last line on hidden checks."""
    verdict = public_verdict(exercise, attempt)
    _, *lines, _ = text(verdict, public=True).splitlines()
    return " ".join([f"({headline(verdict, public=True)})", *(line.strip() for line in lines)])


def main() -> None:
    """Print the table of the topics named on the command line."""
    print("| exercise | attempt | what is heard |\n|---|---|---|")
    for topic in map(find_topic, sys.argv[1:]):
        for item in topic.items:
            for name, attempt, _ in first_attempts(topic, item.name):
                print(f"| {item.name} | {name} | {heard(item.name, attempt).replace('|', chr(92) + '|')} |")


if __name__ == "__main__":
    main()

"""The original topics and their graded items, in order: the one place for names, points and minutes.

A class may choose among these topics and add its own. `Course` in `course/course.py` holds the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

SOURCE = "https://github.com/sequence-course/sequence-course"
"""The public address of the course, from which badges, links and the Colab installation are made."""

BRANCH = "main"
"""The branch that those links use."""

Kind = Literal["exercise", "task", "question"]

FollowThrough = Literal["lose", "keep"]
"""What happens to the points of an answer that is right except for an earlier mistake."""


class Unknown(KeyError):
    """No item or topic has that name. The message is shown as it is, without KeyError's quotes."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Budget:
    """The limits of `fit` for a training task.

    `cpu` and `gpu` count training examples. `seconds` (processor time on a CPU) only stop a machine that is far too
    slow.
    """

    cpu: int
    gpu: int
    seconds: float = 120.0

    @property
    def wall(self) -> float:
        """Return the elapsed seconds that end every training, also of a loop that sleeps or on a busy machine."""
        return 5.0 * self.seconds


@dataclass(frozen=True)
class Item:
    """One graded cell. Its name is the nbgrader `grade_id`, and `minutes` the time that a student should plan."""

    name: str
    points: float
    minutes: int
    kind: Kind = "exercise"
    budget: Budget | None = None


@dataclass(frozen=True)
class Topic:
    """One notebook: `number` orders it, `name` is its module in `reference` and `show`, its folder in `hidden`.

    A topic of an instructor's own may have no number, such as `project`. It comes after all others.
    `lecture` is the lecture it belongs to, or empty. `builds_on` names the topics that it continues, unless that is
    only the topic before. `opens` and `due` are the instructor's dates. `home` is the folder of an instructor's own
    topic, with its notebook and its tests. Such a topic builds only on the topics that it names. `predictions` are
    asked in the notebook and earn nothing. `question` is the number of the written question in use. `dropped` are items
    in the notebook's source that an instructor has removed from the course.
    """

    number: int | None
    name: str
    title: str
    lecture: str
    items: tuple[Item, ...] = field(default=())
    builds_on: tuple[str, ...] = ()
    due: datetime | None = None
    home: Path | None = None
    predictions: tuple[str, ...] = ()
    question: int = 1
    dropped: tuple[Item, ...] = ()
    opens: datetime | None = None

    @property
    def own(self) -> bool:
        """Return whether this is an instructor's own topic."""
        return self.home is not None

    @property
    def folder(self) -> str:
        """Return the nbgrader assignment, e.g. `03_rnn`. Topics are in the order of their folders."""
        return self.name if self.number is None else f"{self.number:02d}_{self.name}"

    @property
    def heading(self) -> str:
        """Return the title with the number before it, as its notebook opens: `3 Recurrent neural networks`."""
        return self.title if self.number is None else f"{self.number} {self.title}"

    @property
    def names(self) -> tuple[str, ...]:
        """Return its possible names: `rnn`, `03_rnn`, `3` or `03`."""
        return (self.name,) if self.number is None else (self.name, self.folder, str(self.number), self.folder[:2])

    @property
    def named_in(self) -> str:
        """Return the name of the place that holds its title and its exercises, for messages."""
        return "course.toml" if self.own else "the syllabus"

    @property
    def in_source(self) -> tuple[Item, ...]:
        """Return all items in the notebook's source, including those removed from the course."""
        return (*self.items, *self.dropped)

    @property
    def judged(self) -> tuple[Item, ...]:
        """Return the items that the judge grades: all except the questions, which a person reads."""
        return tuple(item for item in self.items if item.kind != "question")

    @property
    def points(self) -> float:
        """Return the sum of its exercises' points."""
        return sum(item.points for item in self.items)


def _task(name: str, points: int, minutes: int, budget: Budget | None = None) -> Item:
    return Item(f"{name}_task", points, minutes, "task", budget)


def _question(name: str) -> Item:
    return Item(f"{name}_question", 2, 10, "question")


OURS: tuple[Topic, ...] = (
    Topic(
        1,
        "markov_ngrams",
        "Markov n-grams",
        "Sliding windows and a simple Markov model",
        (
            Item("count_ngrams", 2, 10),
            Item("transition_matrix", 3, 15),
            Item("perplexity", 2, 10),
            Item("sample_text", 3, 15),
            Item("NGramModel", 5, 30),
            _task("markov_ngrams", 4, 20),
            _question("markov_ngrams"),
        ),
        predictions=("perplexity_with_unseen_pairs", "longer_windows_on_both_texts"),
    ),
    Topic(
        2,
        "cbow",
        "Bags of words and CBOW",
        "Continuous bag of words",
        (
            Item("build_vocab", 2, 10),
            Item("bag_of_words", 2, 10),
            Item("context_windows", 2, 10),
            Item("cross_entropy", 3, 15),
            Item("cbow_logits", 3, 10),
            Item("nearest", 2, 10),
            _task("cbow", 5, 20, Budget(cpu=1_000_000, gpu=4_000_000)),
            _question("cbow"),
        ),
        predictions=("similarity_of_two_bags", "window_that_finds_classes"),
    ),
    Topic(
        3,
        "rnn",
        "Recurrent networks",
        "Recurrent neural networks",
        (
            Item("rnn_cell", 2, 10),
            Item("rnn_forward", 3, 10),
            Item("bptt", 5, 30),
            Item("clip_grad_norm", 2, 10),
            Item("ElmanClassifier", 4, 20),
            Item("generate", 3, 15),
            Item("scheduled_inputs", 2, 10),
            _task("rnn", 5, 25, Budget(cpu=150_000, gpu=600_000)),
            _question("rnn"),
        ),
        builds_on=("markov_ngrams", "cbow"),
        predictions=("own_tokens_in_training", "accuracy_beyond_training_lengths"),
    ),
    Topic(
        4,
        "lstm_gru",
        "Gates: LSTM and GRU",
        "Gating, LSTM and GRU",
        (
            Item("gated_cell", 2, 10),
            Item("lstm_cell", 4, 20),
            Item("gru_cell", 3, 15),
            Item("peephole_lstm_cell", 3, 15),
            Item("run_bidirectional", 3, 15),
            Item("lstm_parameters", 2, 10),
            Item("GatedClassifier", 4, 20),
            _task("lstm_gru", 5, 25, Budget(cpu=100_000, gpu=600_000)),
            _question("lstm_gru"),
        ),
        predictions=("half_open_gate_after_ten_steps", "gradient_with_forget_bias_zero"),
    ),
    Topic(
        5,
        "bahdanau_attention",
        "Attention over a recurrent encoder",
        "Attention layers: first use in translation",
        (
            Item("additive_scores", 3, 10),
            Item("dot_scores", 1, 5),
            Item("general_scores", 2, 5),
            Item("attend", 3, 15),
            Item("shift_right", 2, 5),
            Item("AttentionSeq2Seq", 6, 40),
            _task("bahdanau_attention", 5, 20, Budget(cpu=32_000, gpu=128_000)),
            Item("alignment_error_rate", 2, 10),
            _question("bahdanau_attention"),
        ),
        predictions=("query_without_tanh", "digits_beyond_training"),
    ),
    Topic(
        6,
        "self_attention",
        "Self-attention",
        "Attention is all you need",
        (
            Item("softmax", 2, 10),
            Item("attention_for_one", 2, 10),
            Item("scaled_dot_product_attention", 4, 20),
            Item("self_attention", 3, 10),
            Item("attention_cost", 1, 5),
            Item("crossover_length", 1, 5),
            Item("is_permutation_equivariant", 2, 10),
            _task("self_attention", 5, 20, Budget(cpu=30_000, gpu=120_000)),
            _question("self_attention"),
        ),
        builds_on=("cbow", "bahdanau_attention"),
        predictions=("scores_without_scaling", "layers_that_ignore_order"),
    ),
    Topic(
        7,
        "multi_head_attention",
        "Multi-head attention",
        "Why multi-head attention?",
        (
            Item("split_heads", 2, 10),
            Item("merge_heads", 2, 10),
            Item("multi_head_attention", 5, 25),
            Item("MultiHeadAttention", 4, 20),
            Item("multi_head_parameters", 1, 5),
            _task("multi_head_attention", 5, 20, Budget(cpu=40_000, gpu=160_000)),
            _question("multi_head_attention"),
        ),
        predictions=("score_products_of_eight_heads", "questions_one_wide_head_answers"),
    ),
    Topic(
        8,
        "positional_encoding",
        "Positional encoding",
        "Transformers: position encodings",
        (
            Item("sinusoidal", 3, 20),
            Item("shift_matrix", 3, 15),
            Item("order_properties", 4, 25),
            Item("LearnedPositions", 2, 10),
            Item("rope", 4, 30),
            Item("alibi_bias", 2, 10),
            _task("positional_encoding", 5, 20, Budget(cpu=25_000, gpu=100_000)),
            _question("positional_encoding"),
        ),
        predictions=("size_of_word_times_position", "accuracy_beyond_trained_length"),
    ),
    Topic(
        9,
        "masking",
        "Masking",
        "Masked attention, BERT and GPT",
        (
            Item("padding_mask", 2, 10),
            Item("causal_mask", 1, 5),
            Item("combine_masks", 3, 10),
            Item("masked_softmax", 4, 20),
            Item("masked_mean", 2, 10),
            Item("masked_cross_entropy", 3, 10),
            Item("mlm_corrupt", 4, 20),
            Item("leaks_future", 3, 15),
            _task("masking", 5, 20, Budget(cpu=40_000, gpu=200_000)),
            _question("masking"),
        ),
        builds_on=("multi_head_attention", "positional_encoding"),
        predictions=("padding_under_a_causal_mask", "loss_without_a_causal_mask"),
    ),
    Topic(
        10,
        "encoder_decoder",
        "The Transformer",
        "Transformers: encoder, decoder, and both",
        (
            Item("layer_norm", 2, 10),
            Item("feed_forward", 1, 5),
            Item("EncoderLayer", 3, 20),
            Item("DecoderLayer", 4, 20),
            Item("architecture_masks", 3, 15),
            Item("Transformer", 5, 30),
            Item("label_smoothing_loss", 3, 15),
            Item("warmup_schedule", 1, 5),
            Item("decode_greedy", 3, 20),
            _task("encoder_decoder", 6, 20, Budget(cpu=40_000, gpu=400_000)),
            Item("decode_beam", 4, 30),
            _question("encoder_decoder"),
        ),
        builds_on=("bahdanau_attention", "positional_encoding", "masking"),
        predictions=("best_lead_under_smoothing", "recurrent_layer_on_one_thread"),
    ),
    Topic(
        11,
        "vit_patches",
        "Patches and the Vision Transformer",
        "Vision Transformers and the Audio Spectrogram Transformer",
        (
            Item("patchify", 3, 15),
            Item("unpatchify", 2, 10),
            Item("embed_patches", 3, 15),
            Item("linear_to_conv", 2, 10),
            Item("ViT", 5, 25),
            _task("vit_patches", 5, 20, Budget(cpu=100_000, gpu=400_000)),
            Item("interpolate_positions", 3, 15),
            Item("spectrogram_patches", 2, 10),
            _question("vit_patches"),
        ),
        predictions=("digits_without_positions", "vit_or_linear_model"),
    ),
    Topic(
        12,
        "lora",
        "Fine-tuning a few numbers: LoRA",
        "How to train and fine-tune transformers",
        (
            Item("LoRALinear", 5, 25),
            Item("merge", 2, 10),
            Item("unmerge", 2, 5),
            Item("add_lora", 4, 20),
            Item("add_bitfit", 2, 10),
            Item("trainable_parameters", 2, 10),
            Item("lora_parameters", 1, 5),
            Item("lora_state", 2, 10),
            Item("best_rank_r", 3, 15),
            _task("lora", 5, 20, Budget(cpu=30_000, gpu=120_000)),
            _question("lora"),
        ),
        predictions=("gradients_with_both_factors_zero", "accuracy_of_biases_and_rank_one"),
    ),
    Topic(
        13,
        "tokens",
        "Tokenisers and negative sampling",
        "Tokenisation, with word2vec, WordPiece and BPE",
        (
            Item("count_pairs", 2, 10),
            Item("merge_pair", 2, 10),
            Item("train_bpe", 4, 20),
            Item("bpe_encode", 3, 15),
            Item("bpe_decode", 1, 5),
            Item("bits_per_byte", 2, 10),
            Item("wordpiece_encode", 2, 10),
            Item("negative_samples", 2, 10),
            Item("skip_gram_loss", 3, 15),
            _task("tokens", 5, 20, Budget(cpu=409_600, gpu=1_638_400)),
            _question("tokens"),
        ),
        builds_on=("markov_ngrams", "cbow"),
        predictions=("perplexity_of_longer_pieces", "mean_over_the_noise"),
    ),
    Topic(
        14,
        "hidden_states",
        "What lies beneath: hidden states and CTC",
        "Rules, hidden Markov models, convolutions",
        (
            Item("eliza", 2, 10),
            Item("hmm_forward", 4, 20),
            Item("viterbi", 4, 20),
            Item("hmm_posterior", 3, 15),
            Item("fit_ar", 2, 10),
            Item("causal_conv1d", 3, 15),
            Item("receptive_field", 1, 5),
            Item("ctc_collapse", 2, 5),
            Item("ctc_loss", 5, 30),
            _task("hidden_states", 6, 20, Budget(cpu=3_840, gpu=15_360)),
            _question("hidden_states"),
        ),
        builds_on=("markov_ngrams", "rnn"),
        predictions=("best_state_of_each_place", "path_of_a_doubled_digit"),
    ),
    Topic(
        15,
        "gpt",
        "A language model of your own: GPT",
        "Large language models",
        (
            Item("rms_norm", 2, 10),
            Item("swiglu", 2, 10),
            Item("grouped_attention", 4, 25),
            Item("decoder_parameters", 2, 20),
            Item("cached_attention", 3, 30),
            Item("GPT", 3, 30),
            Item("next_token", 4, 30),
            Item("generate_text", 3, 15),
            _task("gpt", 5, 20, Budget(cpu=12_000, gpu=48_000)),
            Item("fit_power_law", 2, 20),
            _question("gpt"),
        ),
        builds_on=("encoder_decoder", "tokens"),
        predictions=("cache_of_a_large_model", "likeliest_of_four_at_half_the_temperature"),
    ),
    Topic(
        16,
        "bert",
        "Learn first, then specialise: BERT, T5, QLoRA",
        "BERT, and fine-tuning with few labels",
        (
            Item("pack_pairs", 3, 15),
            Item("Bert", 5, 25),
            Item("pretraining_loss", 2, 10),
            Item("next_sentence_pairs", 3, 15),
            Item("span_corrupt", 3, 15),
            _task("bert", 6, 25, Budget(cpu=64_000, gpu=256_000)),
            Item("best_span", 3, 15),
            Item("quantise", 4, 20),
            Item("dequantise", 2, 10),
            Item("QLoRALinear", 4, 20),
            _question("bert"),
        ),
        builds_on=("masking", "lora", "tokens"),
        predictions=("nouns_without_labels", "four_bits_beside_an_outlier"),
    ),
    Topic(
        17,
        "linear_time",
        "Without the square: linear attention, RWKV, state spaces, experts",
        "New perspectives: state spaces, Mamba, RWKV, mixtures of experts",
        (
            Item("linear_attention", 3, 15),
            Item("linear_attention_step", 2, 10),
            Item("discretise", 2, 10),
            Item("ssm_scan", 2, 10),
            Item("selective_scan", 4, 20),
            Item("prefix_scan", 4, 20),
            _task("linear_time", 5, 20, Budget(cpu=28_800, gpu=115_200)),
            Item("wkv", 4, 20),
            Item("route", 2, 10),
            Item("balance_loss", 2, 10),
            _question("linear_time"),
        ),
        builds_on=("lstm_gru", "self_attention", "encoder_decoder"),
        predictions=("steps_that_never_change", "gradient_of_a_single_expert"),
    ),
    Topic(
        18,
        "assistant",
        "From predictor to assistant: instructions, pictures, preferences",
        "Alignment tuning, and a multimodal Transformer",
        (
            Item("chat_ids", 2, 20),
            Item("sequence_log_prob", 3, 20),
            Item("stretch", 2, 20),
            Item("insert_patches", 3, 20),
            Item("preference_loss", 2, 10),
            Item("best_policy", 2, 10),
            Item("dpo_loss", 3, 15),
            _task("assistant", 5, 30, Budget(cpu=768_000, gpu=768_000)),
            Item("group_advantages", 2, 10),
            _question("assistant"),
        ),
        builds_on=("vit_patches", "lora", "gpt"),
        predictions=("divergence_at_half_the_price", "true_reward_as_beta_falls"),
    ),
    Topic(
        19,
        "cost",
        "What attention costs, and what it need not cost",
        "Efficient Transformers, relative positions and distillation",
        (
            Item("merge_blocks", 2, 15),
            Item("blockwise_attention", 4, 25),
            Item("window_mask", 2, 10),
            Item("reach", 2, 10),
            Item("RollingCache", 4, 25),
            Item("relative_buckets", 3, 20),
            Item("step_time", 3, 20),
            Item("accept_draft", 4, 25),
            Item("distillation_loss", 3, 15),
            _task("cost", 5, 20, Budget(cpu=12_000, gpu=48_000)),
            _question("cost"),
        ),
        builds_on=("gpt",),
        predictions=("memory_of_blocks_in_training", "reach_beside_a_global_token", "share_at_a_lower_temperature"),
    ),
    Topic(
        20,
        "inside",
        "Inside a model",
        "What large language models know, and how one tests it",
        (
            Item("logit_lens", 2, 15),
            Item("direct_attribution", 3, 20),
            Item("induction_score", 3, 20),
            Item("patch", 4, 25),
            Item("control_labels", 2, 15),
            Item("SparseAutoencoder", 3, 20),
            _task("inside", 5, 20, Budget(cpu=768_000, gpu=768_000)),
            Item("choose_by_likelihood", 3, 20),
            Item("wilson_interval", 2, 10),
            Item("calibration_error", 2, 15),
            _question("inside"),
        ),
        builds_on=("gpt",),
        predictions=(
            "one_of_three_heads_away",
            "sentences_without_the_induction_heads",
            "eight_examples_in_a_new_form",
        ),
    ),
    Topic(
        21,
        "reasoning",
        "Better than the teacher: reasoning by reward",
        "Reasoning models: verifiers, sampling and reinforcement learning",
        (
            Item("extract_answer", 2, 10),
            Item("pass_at_k", 2, 10),
            Item("majority_vote", 2, 10),
            Item("best_of_n", 3, 20),
            Item("rollout", 4, 25),
            Item("reinforce_loss", 3, 20),
            Item("clipped_loss", 3, 20),
            _task("reasoning", 5, 25, Budget(cpu=15_360, gpu=15_360)),
            Item("kl_estimate", 2, 15),
            Item("discounted_advantages", 3, 20),
            _question("reasoning"),
        ),
        builds_on=("assistant",),
        predictions=("one_right_in_four", "length_without_a_price", "paid_and_right"),
    ),
)


def near(name: str, names: Sequence[str]) -> str:
    """Return ". Did you mean …?" with those of `names` that are similar to `name`, or an empty string."""
    from difflib import get_close_matches

    by_lower, lower = {other.lower(): other for other in names}, str(name).lower()
    alike = [lower] if lower in by_lower else get_close_matches(lower, by_lower, n=3, cutoff=0.6)
    found = [by_lower[one] for one in alike]
    return f". Did you mean {' or '.join(map(repr, found))}?" if found else ""

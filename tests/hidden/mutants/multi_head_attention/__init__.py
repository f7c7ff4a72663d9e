"""Wrong answers to topic 07 that the hidden tests must notice, beyond the misconceptions they know by name."""

WITHOUT_COUNTERPART = {
    "GQA repeat for repeat_interleave": "grouped queries are not taught: every head has keys and values of its own",
    "KV cache: mask aligned top-left, stale cache, positions restart": "nothing is decoded step by step here",
}

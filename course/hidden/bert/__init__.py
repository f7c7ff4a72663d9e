"""Hidden tests of topic 16, BERT, T5 and QLoRA: a module an exercise."""

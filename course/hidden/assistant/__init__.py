"""Examiner's notes on the assistant: chats as tokens, pictures among words, preferences, and groups of answers.

Sizes differ from each other, so that no axis can stand in for another.
"""

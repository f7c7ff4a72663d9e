"""Examiner's notes on reasoning by reward: verifiers, votes, rollouts, and losses that rewards pay for.

Sizes differ from each other, so that no axis can stand in for another. No ratio lies on an edge of the clipping.
"""

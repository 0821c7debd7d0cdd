"""Hints: questions to the engine, its answers in words, and when a hint is allowed."""

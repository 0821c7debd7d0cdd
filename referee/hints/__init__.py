"""Hints: a question to the engine, its answer in words, and who may have one."""

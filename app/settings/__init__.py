"""The owner's settings: one TOML file, the environment and flags."""

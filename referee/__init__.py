"""The service: watch, judge, signal; journal; command line; configuration."""

"""The table drawn as SVG."""

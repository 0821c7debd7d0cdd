"""Drives a microcontroller's pins and ports: RP2040, RP2350 and ESP32-S3. Not tried on a real board yet."""

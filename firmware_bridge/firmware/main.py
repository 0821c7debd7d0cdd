"""What MicroPython runs on start: the firmware, unless somebody presses Ctrl-C in its first two seconds."""

from firmware.board.start import main

main()

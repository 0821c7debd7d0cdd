"""Run by MicroPython on start: starts the firmware, unless Ctrl-C is pressed in the first two seconds."""

from firmware.board.stay import should_stay

if not should_stay(""):
    from firmware.board.start import main

    main()

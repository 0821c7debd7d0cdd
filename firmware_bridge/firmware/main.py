"""What MicroPython runs on start: the firmware, unless somebody presses Ctrl-C in its first two seconds."""

from firmware.board.stay import is_to_stay

if not is_to_stay(""):
    from firmware.board.start import main

    main()

"""One folder for each game, all of the same shape.

``rules`` has what may be played, ``table`` what an onlooker sees and which rules a change breaks, ``notation`` the
written forms, ``hints`` the advice; ``game`` puts them behind ``engine.api.Game``.
"""

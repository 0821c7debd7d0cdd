"""One folder for each game, all of the same shape.

``play`` has the rules, ``table`` what an onlooker sees and which rules a change breaks, ``text`` the written forms,
``advice`` hints and random games; ``game.py`` puts them behind ``engine.api.Game``.
"""

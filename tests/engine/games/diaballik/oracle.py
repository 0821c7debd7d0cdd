"""Diaballik straight from its rules, slowly: a dictionary of pieces by column and row, every action played out.

A position is a dictionary: ``men`` maps (column, row), both from 0, to a player, ``balls`` a player to the square of
the ball, ``to_move`` names the player (``None`` when over), ``winner`` who has won, ``options`` are the game's.
"""

from itertools import pairwise

PLAYERS = ("black", "white")
OPTIONS = {
    "start": "standard",
    "pass_over_own": True,
    "antiplay": "announced",
    "antiplay_contacts": "both_sides",
    "null_turn": True,
    "repetition_draw": False,
}
STRAIGHT = ((1, 0), (-1, 0), (0, 1), (0, -1))
AROUND = (*STRAIGHT, (1, 1), (1, -1), (-1, 1), (-1, -1))
BOARD = [(column, row) for column in range(7) for row in range(7)]


def other(player):
    return PLAYERS[1 - PLAYERS.index(player)]


def start(**options):
    given = {**OPTIONS, **options}
    men = {(column, row): player for column in range(7) for row, player in ((0, "black"), (6, "white"))}
    if given["start"] == "variant":
        for column in (1, 5):
            men[column, 0], men[column, 6] = men[column, 6], men[column, 0]
    balls = {"black": (3, 0), "white": (3, 6)}
    return {"men": men, "balls": balls, "to_move": "black", "winner": None, "options": given}


def far_row(player):
    return 6 if player == "black" else 0


def name(square):
    return f"{'abcdefg'[square[0]]}{square[1] + 1}"


def drawing(position):
    """The position as seven drawn rows, who is to move and the options that differ."""
    rows = []
    for row in range(6, -1, -1):
        cells = []
        for column in range(7):
            owner = position["men"].get((column, row))
            letter = owner[0] if owner else "."
            cells.append(letter.upper() if owner and position["balls"][owner] == (column, row) else letter)
        rows.append(" ".join(cells))
    changed = [f"{key}={value}" for key, value in position["options"].items() if value != OPTIONS[key]]
    return " ".join([position["to_move"] or "over", " / ".join(rows), *changed])


def in_line(men, square, mover, over_own):
    """The mover's own pieces that a pass from ``square`` reaches."""
    for right, up in AROUND:
        column, row = square[0] + right, square[1] + up
        while 0 <= column < 7 and 0 <= row < 7:
            owner = men.get((column, row))
            if owner == mover:
                yield column, row
            if owner == other(mover) or (owner == mover and not over_own):
                break
            column, row = column + right, row + up


def wall(men, player):
    rows: dict[int, list[int]] = {}
    for (column, row), owner in men.items():
        if owner == player:
            rows.setdefault(column, []).append(row)
    if sorted(rows) != list(range(7)) or any(len(each) != 1 for each in rows.values()):
        return None
    ordered = [rows[column][0] for column in range(7)]
    return ordered if all(abs(one - two) <= 1 for one, two in pairwise(ordered)) else None


def contacts(men, claimant, options):
    """The claimant's pieces that touch the other's wall, none where there is no wall."""
    standing = wall(men, other(claimant))
    found = []
    for (column, row), owner in men.items():
        if owner != claimant or standing is None:
            continue
        touches = any(men.get((column + right, row + up)) == other(claimant) for right, up in STRAIGHT)
        before = standing[column] > row if claimant == "black" else standing[column] < row
        if touches and (before or options["antiplay_contacts"] == "both_sides"):
            found.append((column, row))
    return found


def due(men, claimant, options):
    return len(contacts(men, claimant, options)) >= 3


def over_in_midturn(men, ball, mover, options):
    return ball[1] == far_row(mover) or (options["antiplay"] == "automatic" and due(men, mover, options))


def actions(men, ball, mover, options, moves, passes):
    """Every next action: ("move" or "pass", from, to)."""
    if over_in_midturn(men, ball, mover, options):
        return
    if moves:
        for square, owner in men.items():
            if owner == mover and square != ball:
                for right, up in STRAIGHT:
                    end = square[0] + right, square[1] + up
                    if end in BOARD and end not in men:
                        yield "move", square, end
    if passes:
        for end in in_line(men, ball, mover, options["pass_over_own"]):
            yield "pass", ball, end


def done(men, ball, action):
    kind, begin, end = action
    if kind == "pass":
        return men, end
    moved = dict(men)
    moved[end] = moved.pop(begin)
    return moved, ball


def sequences(position):
    """Every ordered sequence of actions that is a whole turn, with the pieces and ball after it."""
    mover, options = position["to_move"], position["options"]

    def further(men, ball, moves, passes, so_far):
        for action in actions(men, ball, mover, options, moves, passes):
            after, its_ball = done(men, ball, action)
            left = (moves - 1, passes) if action[0] == "move" else (moves, passes - 1)
            yield (*so_far, action), after, its_ball
            yield from further(after, its_ball, *left, (*so_far, action))

    if mover is not None:
        yield from further(position["men"], position["balls"][mover], 2, 1, ())


def results(position):
    """The distinct results: where the mover's pieces and ball end."""
    mover = position["to_move"]
    before = key(position["men"], position["balls"].get(mover), mover)
    found = {key(men, ball, mover): (men, ball) for _, men, ball in sequences(position)}
    if not position["options"]["null_turn"]:
        found.pop(before, None)
    return found


def shortest(position):
    """The actions that the text of each result uses: the fewest, then moves before passes, then the lowest squares."""
    mover = position["to_move"]

    def rank(actions):
        return len(actions), [(kind == "pass", begin[::-1], end[::-1]) for kind, begin, end in actions]

    found: dict[tuple[object, ...], list[tuple[str, str, str]]] = {}
    for actions, men, ball in sequences(position):
        one = key(men, ball, mover)
        found[one] = min(found.get(one, actions), actions, key=rank)
    return found


def in_hand(position):
    """Men and ball of every board with a piece or the ball in the mover's hand, before or after the first action."""
    mover, options = position["to_move"], position["options"]
    men, ball = position["men"], position["balls"][mover]
    starts = [(men, ball, True)]
    for action in actions(men, ball, mover, options, 2, 1):
        starts.append((*done(men, ball, action), action[0] == "move"))
    for standing, carrier, passes in starts:
        if over_in_midturn(standing, carrier, mover, options):
            continue
        for square, owner in standing.items():
            if owner == mover and square != carrier:
                yield {place: player for place, player in standing.items() if place != square}, carrier
        if passes:
            yield standing, None


def key(men, ball, mover):
    return frozenset(square for square, owner in men.items() if owner == mover), ball


def claims(position):
    """The results after which anti-play can be announced."""
    mover, options = position["to_move"], position["options"]
    if options["antiplay"] == "automatic":
        return set()
    return {
        each
        for each, (men, ball) in results(position).items()
        if due(men, mover, options) and ball[1] != far_row(mover)
    }


def play(position, result):
    """The position after a result."""
    mover, options = position["to_move"], position["options"]
    men, ball = results(position)[result]
    after = {**position, "men": men, "balls": {**position["balls"], mover: ball}}
    if ball[1] == far_row(mover):
        return {**after, "to_move": None, "winner": mover}
    if options["antiplay"] == "automatic":
        for player in (mover, other(mover)):
            if due(men, player, options):
                return {**after, "to_move": None, "winner": player}
    after["to_move"] = other(mover)
    if next(sequences(after), None) is None:
        after["to_move"] = mover
    return after


def perft(position, depth):
    if depth == 1:
        return len(results(position))
    return sum(perft(play(position, each), depth - 1) for each in results(position))


def random_position(rng, **options):
    """A random possible position: pieces anywhere or crowded, sometimes walls, balls not on the far row."""
    given = {
        **OPTIONS,
        "pass_over_own": rng.random() < 0.7,
        "antiplay": rng.choice(["announced", "automatic"]),
        "antiplay_contacts": rng.choice(["both_sides", "front"]),
        "null_turn": rng.random() < 0.7,
        **options,
    }
    while True:
        men = {}
        kind = rng.random()
        if kind < 0.4:
            row = rng.randrange(7)
            for column in range(7):
                row = max(0, min(6, row + rng.choice((-1, 0, 1))))
                men[column, row] = "white"
            near = [square for square in BOARD if square not in men]
            near.sort(
                key=lambda square: min(abs(square[0] - c) + abs(square[1] - r) for c, r in men) + rng.random() * 3
            )
            men |= dict.fromkeys(near[:7], "black")
        else:
            squares = rng.sample(BOARD, rng.choice((14, 18, 49)))
            if kind < 0.7:
                squares = sorted(squares, key=lambda square: square[0] + square[1] + 3 * rng.random())
            chosen = squares[:14]
            rng.shuffle(chosen)
            men = {square: PLAYERS[number % 2] for number, square in enumerate(chosen)}
        if rng.random() < 0.5:
            men = {(column, 6 - row): other(player) for (column, row), player in men.items()}
        balls = {player: rng.choice([square for square in men if men[square] == player]) for player in PLAYERS}
        position = {"men": men, "balls": balls, "to_move": rng.choice(PLAYERS), "winner": None, "options": given}
        if all(balls[player][1] != far_row(player) for player in PLAYERS):
            settled = given["antiplay"] == "automatic" and any(due(men, player, given) for player in PLAYERS)
            if not settled and next(sequences(position), None) is not None:
                return position

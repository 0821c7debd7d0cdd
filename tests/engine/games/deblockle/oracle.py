"""A slow, plain Deblockle: dictionaries of faces, squares as letters and digits, paths walked one by one.

Written from the rules alone and sharing no code with ``engine.games.deblockle``; it knows all faces. A position is a
dict
with ``blocks`` (square -> colour and faces), ``to_move`` and ``options``.
"""

import itertools

DIRECTIONS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
STAR_SQUARES = {"gold": "d2", "teal": "d6"}
DEFAULTS = {"side_by_side": True, "slider_stops_before_star": False, "hop_forfeited_when_stuck": False}
STAR_UP = {"up": "star", "down": "stop", "north": "slider", "east": "x", "south": "hoops", "west": "cross"}

SYMBOLS = tuple(STAR_UP.values())


def enemy(colour):
    return {"gold": "teal", "teal": "gold"}[colour]


def step(square, columns, rows):
    column, row = chr(ord(square[0]) + columns), int(square[1]) + rows
    return f"{column}{row}" if "a" <= column <= "g" and 1 <= row <= 7 else None


def neighbours(square):
    return [found for columns, rows in DIRECTIONS.values() if (found := step(square, columns, rows))]


def tip(faces, direction):
    opposite = {"north": "south", "south": "north", "east": "west", "west": "east"}[direction]
    tipped = dict(faces)
    tipped["up"] = faces[opposite]
    tipped[direction] = faces["up"]
    tipped["down"] = faces[direction]
    tipped[opposite] = faces["down"]
    return tipped


def orientations(net=None):
    found = []
    waiting = [dict(net or STAR_UP)]
    while waiting:
        faces = waiting.pop()
        if faces not in found:
            found.append(faces)
            waiting += [tip(faces, direction) for direction in DIRECTIONS]
    return found


def slides(square, colours, mover, options):
    ends = set()
    for columns, rows in DIRECTIONS.values():
        path = []
        at = step(square, columns, rows)
        while at is not None and at not in colours:
            path.append(at)
            at = step(at, columns, rows)
        stopped_by = colours.get(at)
        if not options["side_by_side"] and stopped_by == enemy(mover):
            continue
        if path and path[-1] in STAR_SQUARES.values():
            path = path[:-1] if options["slider_stops_before_star"] else []
        if path:
            ends.add(path[-1])
    return ends


def walks(square, colours, steps):
    if steps == 0:
        return {square}
    return {
        end
        for following in neighbours(square)
        if following not in colours
        for end in walks(following, colours, steps - 1)
    }


def hops(symbol, square, colours, mover, options):
    if symbol == "cross":
        ends = {end for end in neighbours(square) if end not in colours}
    elif symbol == "x":
        corners = [step(square, columns, rows) for columns in (-1, 1) for rows in (-1, 1)]
        ends = {end for end in corners if end and end not in colours}
    elif symbol == "slider":
        ends = slides(square, colours, mover, options)
    else:
        ends = walks(square, colours, 3)
    return {end for end in ends if end not in STAR_SQUARES.values()}


def touching(colours, mover):
    return any(
        colours.get(near) == enemy(mover)
        for square, colour in colours.items()
        if colour == mover
        for near in neighbours(square)
    )


def may_end(colours, mover, options):
    return options["side_by_side"] or not touching(colours, mover)


def turns(position, player):
    """Every legal turn of the player: (start, rolled to, top, end or None) -> the faces it leaves."""
    options = {**DEFAULTS, **position["options"]}
    colours = {square: block["colour"] for square, block in position["blocks"].items()}
    found = {}
    for start, block in position["blocks"].items():
        if block["colour"] != player:
            continue
        others = {square: colour for square, colour in colours.items() if square != start}
        for direction, (columns, rows) in DIRECTIONS.items():
            target = step(start, columns, rows)
            if target is None or target in others:
                continue
            faces = tip(block["faces"], direction)
            symbol = faces["up"]
            if symbol == "star":
                if target == STAR_SQUARES[enemy(player)] and may_end(others, player, options):
                    found[start, target, symbol, None] = faces
                continue
            if target in STAR_SQUARES.values():
                continue
            if symbol == "stop":
                ends = {target}
            else:
                ends = {
                    end
                    for end in hops(symbol, target, others, player, options)
                    if may_end({**others, end: player}, player, options)
                }
                if not ends and options["hop_forfeited_when_stuck"]:
                    ends = {target}
            for end in ends:
                if may_end({**others, end: player}, player, options):
                    found[start, target, symbol, end] = faces
    return found


def legal(position):
    return {} if position["to_move"] is None else turns(position, position["to_move"])


def play(position, turn):
    start, _, _, end = turn
    mover = position["blocks"][start]["colour"]
    blocks = {square: block for square, block in position["blocks"].items() if square != start}
    if end is not None:
        blocks[end] = {"colour": mover, "faces": legal(position)[turn]}
    following = {"blocks": blocks, "options": position["options"], "to_move": enemy(mover)}
    return skip(following)


def skip(position):
    colours = [block["colour"] for block in position["blocks"].values()]
    if "gold" not in colours or "teal" not in colours:
        return {**position, "to_move": None}
    for player in (position["to_move"], enemy(position["to_move"])):
        if turns(position, player):
            return {**position, "to_move": player}
    return {**position, "to_move": None}


def rules_broken(position, start, end, top):
    """The rules that are broken by an illegal move of the block on ``start`` to ``end`` with ``top`` up.

    A block comes to show a symbol by one roll only, unless it was underneath.
    """
    block, mover = position["blocks"][start], position["to_move"]
    options = {**DEFAULTS, **position["options"]}
    others = {square: found["colour"] for square, found in position["blocks"].items() if square != start}
    on_star = ["landed-on-star"] if end in STAR_SQUARES.values() else []
    no_roll = ["no-roll"] if top == block["faces"]["up"] else []
    apart = sorted((abs(ord(start[0]) - ord(end[0])), abs(int(start[1]) - int(end[1]))))
    if apart == [0, 0]:
        return ["top-changed-in-place"]
    if end in others:
        return ["landed-on-block", *no_roll]
    if no_roll:
        return [*no_roll, *on_star]
    rolled = [step(start, *way) for side, way in DIRECTIONS.items() if tip(block["faces"], side)["up"] == top]
    if not rolled and apart == [0, 2]:
        return ["rolled-too-far"]
    if apart == [1, 1] and (not rolled or rolled[0] in (None, *others)):
        return ["rolled-diagonally", *on_star]
    if not rolled:
        return ["symbol-not-possible"]
    (target,) = rolled
    if target is None or target in others:
        return ["roll-blocked"]
    if target in STAR_SQUARES.values() and top != "star":
        return ["rolled-onto-star"]
    if top == "star":
        own = {STAR_SQUARES[mover]: "wrong-goal", STAR_SQUARES[enemy(mover)]: "not-removed"}
        return [own.get(end, "star-rolled-up") if end == target else "star-rolled-up"]
    if end in hopped_to(top, target, others, mover, {**options, "side_by_side": True}):
        slid = top == "slider" and end != target and end not in slides(target, others, mover, options)
        return ["slider-stopped-by-opponent" if slid else "side-by-side"]
    if on_star:
        return on_star
    if top == "stop":
        return ["stop-must-not-hop"]
    if not hopped_to(top, target, others, mover, options):
        return ["no-hop-possible"]
    if end == target:
        return ["hop-missing"]
    hops = {"cross": "cross-one-orthogonal", "x": "x-one-diagonal", "slider": "slider-to-the-end"}
    return [hops.get(top, "hoops-three-steps")]


def hopped_to(symbol, target, others, mover, options):
    """The squares where a block may end after a roll to ``target``, by its own symbol and the squares of the others."""
    ends = {target} if symbol == "stop" else hops(symbol, target, others, mover, options)
    kept = apart_from_foes(ends, others, mover, options)
    stays = not kept and options["hop_forfeited_when_stuck"]
    return apart_from_foes({target}, others, mover, options) if stays else kept


def apart_from_foes(ends, others, mover, options):
    foe = enemy(mover)
    return {end for end in ends if options["side_by_side"] or all(others.get(near) != foe for near in neighbours(end))}


def perft(position, depth):
    if depth == 0:
        return 1
    if depth == 1:
        return len(legal(position))
    return sum(perft(play(position, turn), depth - 1) for turn in legal(position))


def random_position(rng, *, most_blocks=4, options=None):
    """A random possible position: blocks anywhere but on stars, in any orientation."""
    squares = [f"{column}{row}" for column in "abcdefg" for row in range(1, 8)]
    squares = [square for square in squares if square not in STAR_SQUARES.values()]
    crowded = rng.random() < 0.4
    if crowded:
        corner = rng.choice(["a1", "g7", "d4", "d1"])
        squares.sort(key=lambda square: abs(ord(square[0]) - ord(corner[0])) + abs(int(square[1]) - int(corner[1])))
        squares = squares[: rng.randint(2 * most_blocks, 2 * most_blocks + 6)]
    colours = ["gold"] * rng.randint(1, most_blocks) + ["teal"] * rng.randint(1, most_blocks)
    every = orientations()
    blocks = {
        square: {"colour": colour, "faces": rng.choice(every)}
        for square, colour in zip(rng.sample(squares, len(colours)), colours, strict=True)
    }
    if options is None:
        options = {name: rng.random() < 0.5 for name in DEFAULTS}
    return skip({"blocks": blocks, "options": options, "to_move": rng.choice(["gold", "teal"])})


def text(position):
    """The position in the engine's text form, every face known."""
    blocks = [
        f"{square}:{block['colour'][0].upper()}.{block['faces']['up']}/north={block['faces']['north']}"
        for square, block in position["blocks"].items()
    ]
    options = [f"{name}={str(value).lower()}" for name, value in position["options"].items()]
    gone = [
        int(colour not in [block["colour"] for block in position["blocks"].values()]) for colour in ("gold", "teal")
    ]
    return " ".join([position["to_move"] or "over", *blocks, f"removed={gone[0]},{gone[1]}", *options])


def worlds(state, game):
    """Every fully known position that a state still allows."""
    appearance = game.table.appearance(state)
    choices = []
    for square, facings in game.side_faces.facings(state).items():
        colour, _, rest = appearance[square].partition(" block, ")
        top = rest.removesuffix(" up")
        sides = [{"colour": colour, "faces": {"up": top, **facing}} for facing in facings]
        for side in sides:
            side["faces"]["down"] = next(symbol for symbol in STAR_UP.values() if symbol not in side["faces"].values())
        choices.append([(square, side) for side in sides])
    options = {name: getattr(state.options, name) for name in DEFAULTS}
    for blocks in itertools.product(*choices):
        yield {"blocks": dict(blocks), "options": options, "to_move": state.to_move}

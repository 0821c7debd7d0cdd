"""Hints: which turn to play and why, chosen by the chances in the race to five towers afterwards.

The search covers only moves between squares where pieces may rest, and uses few points first, so that a hint is there
at once. It pairs the most promising ends of the two colours and evaluates every pair by its chance in the race. If one
colour may be able to win, it also searches moves over squares where nothing can rest. A strong hint then plays on from
the best turns with the same sampled dice and picks the one with the best results.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from common.phrases import Phrase, either, listed
from engine.api import Clock, Hint
from engine.errors import IllegalTurnError
from engine.games.blockade.evaluation import (
    GATES,
    ColourProgress,
    Opponent,
    PlayerPieces,
    chance_of_race,
    colour_pieces,
    count_towers,
    new_platforms,
    opponent_of,
    play_on,
    player_pieces,
    progress_after,
    progress_of,
)
from engine.games.blockade.playing import play
from engine.games.blockade.reach import Layout, Reach, Reached, Terrain, explore, terrain_of
from engine.games.blockade.state import (
    COLOURS,
    OWNED,
    UNREACHABLE,
    BlockadeState,
    BlockadeTurn,
    Dice,
    allocations,
    clears_held,
    other,
)
from engine.games.blockade.turns import turn_of
from engine.search.budget import Deadline, DeadlineExceededError, TimeCheck
from engine.search.sampling import race
from engine.values import Strength

Moves = tuple[tuple[int, int], ...]


_KEPT = {Strength.GENTLE: 6, Strength.FAIR: 8, Strength.STRONG: 24}  # ends of a colour, the best by the race
_FIRST_POINTS = 2  # searched first, so that there is a hint at once
_DETOUR = 2
"""The most steps of a turn that may bring a colour no nearer to its towers."""

_DETOUR_SHARE = 0.4
"""The share of the remaining time that a strong hint may spend on turns with detours; comparing takes the rest."""

_SURE = 0.5  # confidence, 0 to 1, in every turn that does not win at once

_ENOUGH_COMPARED, _MOST_COMPARED = 12, 48  # turns played on
_MOST_WITH_SAME_TOWERS = 3
"""The most turns per set of squares built on, once there are enough turns to compare."""

_MOST_BEHIND = 0.25
"""The chance of winning the race, 0 to 1, that a turn may lack to be compared, or to replace one that repeats."""
_ROLLS_AHEAD = 6
"""Three turns for each player; further ahead, the rough play tells less than the race evaluation."""

_LEAST_CHANCE = 0.01  # of winning, 0 to 1, while the race is open
_WINNING = {Strength.GENTLE: (0.96, 0.54), Strength.FAIR: (0.96, 0.54), Strength.STRONG: (0.72, 0.42)}
"""Slope and offset from the logit of a chance in the race to that of winning, between two players of this strength.

A game is less sure than the race, and less of a burden for the player who has just moved. Fitted by
``benchmarks/hints.py --chances``."""


def hint(
    state: BlockadeState,
    deadline_s: float,
    rng: Random,
    *,
    clock: Clock,
    strength: Strength = Strength.STRONG,
    earlier: Sequence[BlockadeState],
) -> Hint[BlockadeTurn]:
    """Suggest a turn, with a reason; raises IllegalTurnError if the game is over or a roll is awaited."""
    if state.to_move is None or state.roll is None:
        raise IllegalTurnError(
            either(
                state.to_move is None,
                "there is no turn to hint at: the game is over",
                "there is no turn to hint at: the dice must be rolled first",
            )
        )
    return _HintSearch(state, state.roll, Deadline.after(deadline_s, clock), rng, strength, earlier).run()


@dataclass(frozen=True, slots=True)
class _End:
    """One end of a colour, the towers it builds, and the colour's progress afterwards.

    ``steps`` is its distance to five towers, with the walls that may yet come counted in part.
    """

    reached: Reached
    reach: Reach
    progress: ColourProgress
    steps: int
    built: int
    gate: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A turn to compare with others, both sides after it, and the number of towers on the board."""

    pair: tuple[_End, _End]
    turn: BlockadeTurn
    mine: PlayerPieces
    theirs: PlayerPieces
    towers: int


class _HintSearch:
    """The search for one hint."""

    def __init__(
        self,
        state: BlockadeState,
        dice: Dice,
        deadline: Deadline,
        rng: Random,
        strength: Strength,
        earlier: Sequence[BlockadeState],
    ) -> None:
        assert state.to_move is not None
        self.state = state
        self.player = state.to_move
        self.dice = dice
        self.deadline = deadline
        self.rng = rng
        self.strength = strength
        self.opponent: Opponent = opponent_of(state.stacks, self.player)
        self.before = self.opponent.their_steps(0, 0)
        self.mine_before = [self.opponent.steps(progress_of(state.stacks, colour)) for colour in OWNED[self.player]]
        self.best: Hint[BlockadeTurn] | None = None
        self.seen = Counter((each.stacks, each.to_move) for each in (*earlier, state) if each.roll is not None)
        self.stale: dict[BlockadeTurn, int] = {}
        """Turns that lead to stacks that have occurred at least twice, and how often they have."""
        self.fresh: tuple[float, Hint[BlockadeTurn]] | None = None
        """The best turn so far that is not stale, and its value."""
        self.rated: list[tuple[float, tuple[_End, _End]]] = []

    def run(self) -> Hint[BlockadeTurn]:
        """Search with a rising number of points until all are used or the time is up."""
        allowed = allocations(self.dice)
        most = max(max(each) for each in allowed)
        try:
            self._search([(min(first, _FIRST_POINTS), min(second, _FIRST_POINTS)) for first, second in allowed])
            if not self._find_win(allowed):
                if most > _FIRST_POINTS:
                    if self.strength is not Strength.GENTLE:
                        self._search(list(allowed), detour=0)
                    self._search_detours(list(allowed))
                if self.best is not None and self.best.turn in self.stale:
                    # Every move that gains ground repeats a position; other moves may not.
                    self._search(list(allowed), detour=UNREACHABLE)
                if self.strength is Strength.STRONG:
                    self._compare()
        except DeadlineExceededError:
            pass
        assert self.best is not None
        return self.best

    def _search_detours(self, allowed: list[Dice]) -> None:
        """Search again with detours while enough time is left to compare turns."""
        whole = self.deadline
        if self.strength is Strength.STRONG:
            self.deadline = whole.share(_DETOUR_SHARE)
        try:
            self._search(allowed)
        except DeadlineExceededError:
            whole.check()
        finally:
            self.deadline = whole

    def _find_win(self, allowed: tuple[Dice, ...]) -> bool:
        """Search for a winning turn over any squares, and return whether there is one."""
        for which, colour in enumerate(OWNED[self.player]):
            points = max(each[which] for each in allowed)
            terrain = self._terrain(colour, OWNED[self.player][1 - which], strict=self.state.options.strict)
            worth = self._stays_within(terrain, points)
            if not worth(terrain.start, 0):
                continue
            reach = explore(terrain, points, self.state.supply[:points], check_time=self.deadline.check, worth=worth)
            for reached in reach.ends:
                moves = reach.moves_to(reached.layout)
                if reached.wins and not play(self.state, self.player, self.dice, moves).breaches:
                    self.best = Hint(
                        turn_of(self.state, moves),
                        Phrase("wins: the fifth {colour} tower", COLOURS[colour]),
                        1.0,
                        "win",
                        1.0,
                    )
                    return True
        return False

    def _stays_within(self, terrain: Terrain, most: int) -> Callable[[Layout, int], bool]:
        walls = self.opponent.walls_against_us

        def worth(layout: Layout, used: int) -> bool:
            return used + progress_after(terrain, layout)[0].steps(walls) <= most

        return worth

    def _search(self, allowed: list[Dice], detour: int = _DETOUR) -> None:
        sides = tuple(self._ends(which, max(each[which] for each in allowed), detour) for which in (0, 1))
        rated: list[tuple[float, tuple[_End, _End]]] = []
        for limits in dict.fromkeys(allowed):
            chosen = [self._best_ends(sides[which], limits[which]) for which in (0, 1)]
            rated += [(self._value(pair), pair) for pair in _compatible_pairs(chosen[0], chosen[1])]
        rated.sort(key=lambda each: (-each[0], each[1][0].gate + each[1][1].gate))
        self.rated = rated
        stale = None
        least = -math.inf
        for value, pair in rated:
            if value < least:
                break
            turn = self._turn(pair)
            if turn is not None and turn in self.stale:
                if stale is None:
                    # The more often a position has occurred, the worse a fresh turn may be to replace it.
                    stale, least = self._hint(value, pair, turn), value - _MOST_BEHIND * (self.stale[turn] - 1)
            elif turn is not None:
                found = (value, self._hint(value, pair, turn))
                self.fresh = found if self.fresh is None else max(self.fresh, found, key=lambda each: each[0])
                self.best = found[1]
                return
        if stale is not None:
            # A fresh turn found earlier, with fewer points, may be good enough.
            self.best = self.fresh[1] if self.fresh is not None and self.fresh[0] >= least else stale

    def _compare(self) -> None:
        """Play on from the most promising turns with the same dice, and pick the one with the best results."""
        candidates = self._candidates()
        if len(candidates) < 2:
            return

        def value(candidate: _Candidate, rolls: tuple[Dice, ...], check_time: TimeCheck) -> float:
            del check_time
            return play_on(candidate.mine, candidate.theirs, candidate.towers, rolls)

        best = race(candidates, _draw_rolls, value, self.deadline, self.rng).best
        self.best = self._hint(best.mean, best.candidate.pair, best.candidate.turn)

    def _candidates(self) -> list[_Candidate]:
        """Return the best turns by the race, a few for each set of squares built on; none if a turn wins."""
        least = self.rated[0][0] - _MOST_BEHIND
        stacks = self.state.stacks
        theirs = player_pieces(stacks, other(self.player))
        before = player_pieces(stacks, self.player)
        same_towers: Counter[tuple[int, int]] = Counter()
        found: list[_Candidate] = []
        for chance, pair in self.rated:
            if pair[0].reached.wins or pair[1].reached.wins:
                return []
            built = (pair[0].built, pair[1].built)
            if len(found) >= _MOST_COMPARED or chance < least:
                break
            if len(found) >= _ENOUGH_COMPARED and same_towers[built] >= _MOST_WITH_SAME_TOWERS:
                continue
            same_towers[built] += 1
            self.deadline.check()
            turn = self._turn(pair)
            if turn is not None and turn not in self.stale:
                towers = count_towers(stacks)
                one = before[0].platforms | new_platforms(built[0], towers)
                towers += built[0].bit_count()
                two = before[1].platforms | new_platforms(built[1], towers)
                towers += built[1].bit_count()
                colours = (colour_pieces(pair[0].progress, one), colour_pieces(pair[1].progress, two))
                walls = self.opponent.walls_against_them | built[0] | built[1]
                mine = PlayerPieces(colours, self.opponent.walls_against_us)
                if all(mine != each.mine for each in found):
                    found.append(_Candidate(pair, turn, mine, PlayerPieces(theirs, walls), towers))
        return found

    def _ends(self, which: int, points: int, detour: int) -> list[_End]:
        colours = OWNED[self.player]
        terrain = self._terrain(colours[which], colours[1 - which])
        check_time = None if self.best is None else self.deadline.check
        left = progress_after(terrain, terrain.start)[0].steps(self.opponent.walls_against_us)
        worth = self._stays_within(terrain, left + detour)
        caps = self.state.supply[: max(points, 1)]
        gentle = self.strength is Strength.GENTLE
        reach = explore(terrain, points, caps, check_time=check_time, worth=None if gentle else worth)
        ends = []
        for reached in reach.ends:
            progress, built = progress_after(terrain, reached.layout)
            steps = 0 if reached.wins else self.opponent.steps(progress)
            gate = 0 if gentle else progress.steps_to_gate(self.opponent.walls_against_us, GATES[colours[which]])
            ends.append(_End(reached, reach, progress, steps, built, gate))
            if check_time is not None:
                check_time()
        return ends

    def _terrain(self, colour: int, friend: int, *, strict: bool = True) -> Terrain:
        stacks = self.state.stacks
        return terrain_of(stacks, replace(self.state.options, strict=strict), colour, clears_held(stacks, friend))

    def _best_ends(self, ends: list[_End], points: int) -> list[_End]:
        within = [end for end in ends if end.reached.points <= points]
        if self.strength is Strength.GENTLE:
            walls = self.opponent.walls_against_us
            within.sort(key=lambda end: (-end.built.bit_count(), end.progress.next_tower(walls)))
        else:
            within.sort(key=lambda end: (end.steps, end.gate, -end.built.bit_count(), -end.progress.ready.bit_count()))
        kept = within[: _KEPT[self.strength]]
        seen = {end.built for end in kept}
        for end in within:
            if end.built not in seen:
                seen.add(end.built)
                kept.append(end)
        return kept

    def _value(self, pair: tuple[_End, _End]) -> float:
        if pair[0].reached.wins or pair[1].reached.wins:
            return 1.0
        if self.strength is Strength.GENTLE:
            made = sum(end.built.bit_count() for end in pair)
            walls = self.opponent.walls_against_us
            return made - min(end.progress.next_tower(walls) for end in pair) / 100
        steps = sorted(end.steps for end in pair)
        theirs = self.opponent.their_steps(
            pair[0].built | pair[1].built, pair[0].progress.ready | pair[1].progress.ready
        )
        return chance_of_race((steps[0], steps[1]), theirs)

    def _turn(self, pair: tuple[_End, _End]) -> BlockadeTurn | None:
        """Return the turn with both colours' moves in a legal order; ``None`` if there is no such order."""
        moves = [end.reach.moves_to(end.reached.layout) for end in pair]
        if pair[0].reached.wins or pair[1].reached.wins:
            winner = 0 if pair[0].reached.wins else 1
            orders: list[Moves] = [moves[winner]]
        else:
            orders = [moves[0] + moves[1], moves[1] + moves[0]]
        for order in orders:
            played = play(self.state, self.player, self.dice, order)
            if not played.breaches:
                turn = turn_of(self.state, order)
                times = self.seen[played.stacks, other(self.player)]
                if times > 1:
                    self.stale[turn] = times
                return turn
        return None

    def _hint(self, value: float, pair: tuple[_End, _End], turn: BlockadeTurn) -> Hint[BlockadeTurn]:
        wins = pair[0].reached.wins or pair[1].reached.wins
        if wins:
            return Hint(turn, self._reason(pair), 1.0, "win", 1.0)
        steps = (pair[0].steps, pair[1].steps)
        theirs = self.opponent.their_steps(pair[0].built | pair[1].built, 0)
        chance = chance_of_race((min(steps), max(steps)), theirs) if self.strength is Strength.GENTLE else value
        return Hint(turn, self._reason(pair), chance_of_winning(chance, self.strength), "win", _SURE)

    def _reason(self, pair: tuple[_End, _End]) -> str:
        colours = [COLOURS[colour] for colour in OWNED[self.player]]
        for end, colour in zip(pair, colours, strict=True):
            if end.reached.wins:
                return Phrase("wins: the fifth {colour} tower", colour)
        built = pair[0].built | pair[1].built
        rivals = [COLOURS[colour] for colour in OWNED[other(self.player)]]
        if built:
            after = self.opponent.their_steps(built, 0)
            made = listed(
                _towers(end.built.bit_count(), colour) for end, colour in zip(pair, colours, strict=True) if end.built
            )
            for now, then, colour in zip(self.before, after, rivals, strict=True):
                if then >= UNREACHABLE > now:
                    return Phrase("builds {made}, which shuts {colour} out", made, colour)
            longest = max(range(2), key=lambda which: after[which] - self.before[which])
            longer = after[longest] - self.before[longest]
            if longer <= 0:
                return Phrase("builds {made}", made)
            return either(
                longer == 1,
                "builds {made}, which costs {rival} 1 more step",
                "builds {made}, which costs {rival} {longer} more steps",
                made=made,
                rival=rivals[longest],
                longer=longer,
            )
        gaining = [which for which in range(2) if pair[which].steps < self.mine_before[which]]
        nearest = min(gaining or range(2), key=lambda which: pair[which].steps)
        # ``_End.steps`` also weighs walls that may yet come.
        left = pair[nearest].progress.steps(self.opponent.walls_against_us)
        if left >= UNREACHABLE:
            return Phrase("holds out: neither of your colours can get to five towers")
        return (
            either(
                left == 1,
                "brings {colour} within one step of five towers",
                "brings {colour} within {left} steps of five towers",
                colour=colours[nearest],
                left=left,
            )
            if gaining
            else either(
                left == 1,
                "keeps {colour} within one step of five towers",
                "keeps {colour} within {left} steps of five towers",
                colour=colours[nearest],
                left=left,
            )
        )


def chance_of_winning(race: float, strength: Strength) -> float:
    """Return the chance of winning a game between two players of this strength by that of winning the race, 0 to 1."""
    within = min(1 - _LEAST_CHANCE, max(_LEAST_CHANCE, race))
    slope, offset = _WINNING[strength]
    return 0.5 + 0.5 * math.tanh((slope * math.log(within / (1 - within)) + offset) / 2)


def _towers(number: int, colour: str) -> str:
    return Phrase("a {colour} tower", colour) if number == 1 else Phrase("{number} {colour} towers", number, colour)


def _draw_rolls(rng: Random) -> tuple[Dice, ...]:
    return tuple((rng.randint(1, 6), rng.randint(1, 6)) for _ in range(_ROLLS_AHEAD))


def _compatible_pairs(first: list[_End], second: list[_End]) -> Iterator[tuple[_End, _End]]:
    return ((one, two) for one in first for two in second if not one.reached.clears & two.reached.clears)

"""Paths of one colour through a layout in which the other colour may play."""

from engine.games.blockade.enumeration import detours

A, B, C, D, E = ((*("",) * number, "M", *("",) * (4 - number)) for number in range(5))


def test_a_detour_takes_at_most_the_points_of_the_highest_die():
    found = detours(A, [(A, B, 2), (B, C, 4), (B, D, 5)], lambda layout: layout == B)
    assert found.points == {B: 2, C: 6}


def test_the_cheapest_detour_is_found_with_its_two_parts():
    edges = [(A, B, 3), (A, B, 1), (A, C, 1), (C, B, 1), (B, D, 2), (C, E, 1)]
    found = detours(A, edges, lambda layout: layout == B)
    assert found.points == {B: 1, D: 3}
    assert found.around(D) == (((0, 1),), ((1, 3),))
    assert found.around(B) == (((0, 1),), ())


def test_there_is_no_detour_through_a_layout_that_is_never_reached():
    assert detours(A, [(A, B, 1), (C, D, 1)], lambda layout: layout == D).points == {}


def test_the_start_itself_can_be_the_layout_to_pass():
    assert detours(A, [(A, B, 6)], lambda layout: layout == A).points == {A: 0, B: 6}

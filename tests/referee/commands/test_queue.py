"""The loop's queue of commands: in order, from any thread, and no wait lasts for ever."""

from __future__ import annotations

import threading

import pytest

from hardware.pin_map import ButtonRole
from referee.commands.values import AskHint, CommandQueue, Press, Reply, TakeBack
from tests.guard import GUARD_S


def test_commands_come_in_order_and_presses_separately() -> None:
    queue = CommandQueue(lambda: 0.0)
    for command in (TakeBack("Ann"), Press(ButtonRole.HINT), AskHint("Ben"), Press(ButtonRole.END_TURN)):
        queue.submit(command)
    assert [each.command for each in queue.take()] == [TakeBack("Ann"), AskHint("Ben")]
    assert [each.command for each in queue.take_presses()] == [Press(ButtonRole.HINT), Press(ButtonRole.END_TURN)]
    assert queue.take() == queue.take_presses() == []


def test_a_press_waits_until_the_switches_have_reported_earlier_moves() -> None:
    now_s = [0.0]
    queue = CommandQueue(lambda: now_s[0], press_lag_s=0.25)
    taken = []
    for time_s, pressed in ((0.0, ["end turn"]), (0.125, []), (0.25, ["hint", "end turn"]), (0.375, []), (0.5, [])):
        now_s[0] = time_s
        for role in pressed:
            queue.submit(Press(ButtonRole(role)))
        taken.append([each.command for each in queue.take_presses()])
    end, hint = Press(ButtonRole.END_TURN), Press(ButtonRole.HINT)
    assert taken == [[], [], [end], [], [hint, end]]


@pytest.mark.parametrize("woken", [False, True])
def test_the_next_command_ends_the_wait(woken: bool) -> None:
    queue = CommandQueue(lambda: 0.0)
    waiting = threading.Thread(target=queue.wait, args=(GUARD_S,))
    waiting.start()
    if woken:
        queue.wake()
    else:
        queue.submit(TakeBack("Ann"))
    waiting.join(GUARD_S / 2)
    assert not waiting.is_alive()


def test_a_command_before_the_wait_ends_it_at_once() -> None:
    queue = CommandQueue(lambda: 0.0)
    queue.submit(TakeBack("Ann"))
    waiting = threading.Thread(target=queue.wait, args=(GUARD_S,))
    waiting.start()
    waiting.join(GUARD_S / 2)
    assert not waiting.is_alive()
    queue.wait(0.0)
    assert len(queue.take()) == 1


def test_commands_that_were_never_taken_are_released_on_closing() -> None:
    replies: list[Reply | None] = []
    with CommandQueue(lambda: 0.0) as queue:
        queue.submit(TakeBack("Ann"), replies.append)
        (taken,) = queue.take()
        queue.submit(AskHint("Ben"), replies.append)
        queue.submit(Press(ButtonRole.END_TURN), replies.append)
        assert replies == []
    assert replies == [None, None]
    taken.respond(Reply("done"))
    queue.submit(AskHint("too late"), replies.append)
    assert replies == [None, None, Reply("done"), None]

"""Ctrl-C ends the referee between two steps, never inside one."""

import os
import signal
import threading

import pytest

from referee.runtime.interrupts import Interrupts
from tests.guard import GUARD_S


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_step_waits_until_the_step_is_done(number: signal.Signals) -> None:
    steps: list[str] = []
    with Interrupts() as interrupts:
        os.kill(os.getpid(), number)
        steps.append("the step went on")
        with pytest.raises(KeyboardInterrupt):
            interrupts.waiting(lambda: steps.append("never"))
    assert steps == ["the step went on"]


def test_a_signal_while_waiting_ends_the_wait() -> None:
    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt):
        interrupts.waiting(lambda: os.kill(os.getpid(), signal.SIGINT))


def test_a_second_signal_waits_for_nothing() -> None:
    with Interrupts():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_afterwards_signals_are_as_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupts() as interrupts:
        assert signal.getsignal(signal.SIGINT) is not before
        assert interrupts.waiting(lambda: 3) == 3
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_the_main_thread_nothing_is_changed() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def elsewhere() -> None:
        with Interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(GUARD_S)
    assert seen == [before]

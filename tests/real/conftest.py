"""What owners' tests share: asking the person who looks on."""

from collections.abc import Callable

import pytest

Ask = Callable[[str], bool]


@pytest.fixture
def ask(request: pytest.FixtureRequest) -> Ask:
    """Ask a question that is answered by y or n on the keyboard."""
    if request.config.getoption("capture") != "no":
        pytest.fail("these tests ask you what you see: run them by ./check --real, or with -s")

    def asked(question: str) -> bool:
        return input(f"\n{question} [y/n] ").strip().lower().startswith("y")

    return asked


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Tell the person what to do."""

    def told(words: str) -> None:
        print(f"\n{words}", flush=True)

    return told

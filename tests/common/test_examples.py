"""Every example in the docstrings of ``common`` gives what it says."""

import doctest
import importlib
import pkgutil

import pytest

import common

MODULES = [module.name for module in pkgutil.iter_modules(common.__path__, "common.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_say(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name))

    assert results.failed == 0

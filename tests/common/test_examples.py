"""The examples in the docstrings of ``common`` are correct."""

import doctest
import importlib
import pkgutil

import pytest

import common

MODULES = [module.name for module in pkgutil.iter_modules(common.__path__, "common.")]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_are_correct(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name))

    assert results.failed == 0

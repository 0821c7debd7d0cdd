"""Mutations of a module's code, each of which a test should notice."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Iterator
from functools import partial

OTHER_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OTHER_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}


def changes_of(tree: ast.Module) -> list[tuple[int, Callable[[], None]]]:
    """List a module's mutations in a fixed order, each as a line and a function that changes the tree.

    Annotations and decorators are left out, as they hardly affect behaviour.
    """
    found: list[tuple[int, Callable[[], None]]] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.expr | ast.stmt):
            found += [(node.lineno, change) for change in _changes_at(node)]
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns", "decorator_list"):
                values = value if isinstance(value, list) else [value]
                waiting += [child for child in reversed(values) if isinstance(child, ast.AST)]
    return found


def _changes_at(node: ast.expr | ast.stmt) -> Iterator[Callable[[], None]]:
    match node:
        case ast.Compare(ops=operators):
            for place, operator in enumerate(operators):
                for other in OTHER_COMPARISONS[type(operator)]:
                    yield partial(operators.__setitem__, place, other())
        case ast.BoolOp(op=operator):
            yield lambda: setattr(node, "op", ast.Or() if isinstance(operator, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield lambda: _become(node, operand)
        case ast.Constant(value=bool(value)):
            yield lambda: setattr(node, "value", not value)
        case ast.Constant(value=int(value) | float(value)):
            yield lambda: setattr(node, "value", value + 1)
            yield lambda: setattr(node, "value", value - 1)
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in OTHER_ARITHMETIC:
            if not any(isinstance(part, ast.List | ast.JoinedStr) or _is_text(part) for part in ast.walk(node)):
                yield lambda: setattr(node, "op", OTHER_ARITHMETIC[type(operator)]())
        case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.UnaryOp):
            yield lambda: setattr(node, "test", ast.copy_location(ast.UnaryOp(ast.Not(), test), test))


def _become(node: ast.expr, other: ast.expr) -> None:
    node.__class__ = other.__class__
    node.__dict__ = other.__dict__


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def mutated(source: str, number: int) -> ast.Module:
    """Parse a module's source and apply the mutation of this number."""
    tree = ast.parse(source)
    _, change = changes_of(tree)[number]
    change()
    return ast.fix_missing_locations(tree)


def statement_until(source: str, line: int) -> range:
    """The lines from the start of the innermost statement around a line up to that line."""
    around = [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return range(max(around, default=line), line + 1)


def diff_of(source: str, number: int) -> str:
    """A mutation as a unified diff."""
    before, after = (ast.unparse(tree).splitlines() for tree in (ast.parse(source), mutated(source, number)))
    return "\n".join(difflib.unified_diff(before, after, lineterm="", n=0)).partition("@@\n")[2]

"""Finds the templates of all sentences in modules, from their syntax trees.

A string or f-string with words is a template. Its expressions become placeholders, named after the variables; an
expression with a few fixed values (``'is' if count == 1 else 'are'``, ``counted(number, "step")``) gives a template for
each.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

_MOST_VARIANTS = 12
"""Most templates of an f-string; beyond that, its parts become templates of their own."""
_WORD = re.compile(r"[A-Za-z]{2,}")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_FOR_PROGRAMMERS = frozenset({"ValueError", "TypeError", "KeyError", "AssertionError", "RuntimeError", "TypeVar"})
_NO_SENTENCES = frozenset(
    {"startswith", "endswith", "removeprefix", "removesuffix", "split", "partition", "compile", "Phrase", "either"}
)

Choices = Mapping[str, bool]
"""The assumed truth of each condition, by its source; consistent within a sentence."""


@dataclass(frozen=True)
class Piece:
    """Part of a template: its text with placeholders, and the conditions under which it occurs."""

    text: str
    choices: Choices = field(default_factory=dict)


def templates_in(
    source: str, fixed: Mapping[str, Iterable[str]], silent: Collection[str] = (), *, only_faults: bool = False
) -> list[str]:
    """List the templates of a module's sentences, in order, none twice.

    ``fixed`` maps an expression such as ``self.piece`` to its possible texts; functions named in ``silent`` are left
    out. With ``only_faults``, only functions count that make an error or a Finding.
    """
    reader = _Reader(fixed, silent, only_faults=only_faults)
    reader.visit(ast.parse(source))
    return list(dict.fromkeys(text for text, owner in reader.found if owner not in reader.only_inlined()))


class _Reader(ast.NodeVisitor):
    """Finds templates, each with the local name that it was assigned to, ``None`` without one."""

    def __init__(self, fixed: Mapping[str, Iterable[str]], silent: Collection[str], *, only_faults: bool) -> None:
        self.found: list[tuple[str, str | None]] = []
        self._inlined: dict[str, set[int]] = {}
        self._uses: Counter[str] = Counter()
        self._fixed = fixed
        self._silent = silent
        self._is_heard = not only_faults
        self._scopes: list[Mapping[str, ast.expr]] = [{}]
        self._path: list[str] = []
        self._owner: str | None = None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in self._silent:
            return
        was_heard, self._is_heard = self._is_heard, self._is_heard or _makes_faults(node)
        self._path.append(node.name)
        loads = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
        self._uses.update(self._key(name) for name in loads)
        self._scopes.append({**self._scopes[-1], **_assigned_once(node)})
        for statement in node.body:
            self.visit(statement)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if isinstance(default, ast.JoinedStr):
                self.visit(default)
        self._scopes.pop()
        self._path.pop()
        self._is_heard = was_heard

    def visit_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        self._owner = self._key(target.id) if isinstance(target, ast.Name) and self._path else None
        if isinstance(target, ast.Tuple) and self._path:
            self._owner = self._key("+".join(part.id for part in target.elts if isinstance(part, ast.Name)))
        self.visit(node.value)
        self._owner = None

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if not (isinstance(called, ast.Name) and called.id in _FOR_PROGRAMMERS):
            self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        del node

    def visit_Compare(self, node: ast.Compare) -> None:
        del node

    def visit_Call(self, node: ast.Call) -> None:
        name = _called(node)
        if name in _NO_SENTENCES or name in _FOR_PROGRAMMERS:
            return
        if name == "counted":
            self._say(node)
        elif _is_finding(node):
            # A subject such as "camera" may be a single word, unlike other sentences.
            subject = node.args[0]
            if isinstance(subject, ast.Constant) and isinstance(subject.value, str):
                self.found.append((subject.value, None))
            self.generic_visit(node)
        else:
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._say(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._say(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.body)
        self.visit(node.orelse)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Add) and any(isinstance(one, (ast.JoinedStr, ast.Constant)) for one in _sides(node)):
            self._say(node)
        else:
            self.generic_visit(node)

    def only_inlined(self) -> set[str]:
        """Name the locals that are only used as parts of other templates."""
        names = {name for name, uses in self._inlined.items() if len(uses) >= self._uses[name]}
        tuples = {owner for _, owner in self.found if owner is not None and "+" in owner}
        return names | {each for each in tuples if {self._in(each, one) for one in self._names(each)} <= names}

    @staticmethod
    def _names(owner: str) -> list[str]:
        return owner.rpartition(".")[2].split("+")

    @staticmethod
    def _in(owner: str, name: str) -> str:
        return f"{owner.rpartition('.')[0]}.{name}"

    def _key(self, name: str) -> str:
        return ".".join([*self._path, name])

    def _say(self, node: ast.expr) -> None:
        if not self._is_heard:
            return
        names = _Names()
        pieces = self._pieces(node, names, {})
        if len(pieces) > _MOST_VARIANTS:
            names = _Names()
            pieces = self._pieces(node, names, None)
        for piece in pieces:
            text = piece.text.strip()
            bare = _PLACEHOLDER.sub("", text)
            if _WORD.search(bare) and (" " in text or text.endswith(".")):
                self.found.append((text, self._owner))
        owner, self._owner = self._owner, None
        for inner in names.left:
            self.visit(inner)
        self._owner = owner

    def _pieces(self, node: ast.expr, names: _Names, choices: Choices | None) -> list[Piece]:
        """The possible texts of a node; without ``choices``, conditions become placeholders."""
        match node:
            case ast.Constant(value=str(text)):
                return [Piece(text)]
            case ast.JoinedStr(values=values):
                return self._joined([self._pieces(value, names, choices) for value in values])
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self._joined([self._pieces(left, names, choices), self._pieces(right, names, choices)])
            case ast.FormattedValue(value=value, conversion=conversion):
                if conversion == ord("r"):
                    return [Piece(names.placeholder(value, "!r"))]
                return self._pieces(value, names, choices)
            case ast.IfExp(test=test, body=body, orelse=orelse) if choices is not None:
                return [
                    Piece(piece.text, {**piece.choices, ast.unparse(test): way})
                    for branch, way in ((body, True), (orelse, False))
                    for piece in self._pieces(branch, names, choices)
                    if piece.choices.get(ast.unparse(test), way) is way
                ]
            case ast.Call() if _called(node) == "counted" and choices is not None:
                return self._counted(node, names, choices)
            case ast.Name(id=name) if name in self._scopes[-1] and choices is not None:
                value = self._scopes[-1][name]
                self._inlined.setdefault(self._key(name), set()).add(id(node))
                return self._pieces(value, names, choices)
        options = self._fixed.get(ast.unparse(node))
        if options:
            return [Piece(text, {f"{ast.unparse(node)} is {text}": True}) for text in options]
        return [Piece(names.placeholder(node))]

    def _counted(self, node: ast.Call, names: _Names, choices: Choices) -> list[Piece]:
        number, thing, *rest = node.args
        is_one = f"{ast.unparse(number)} == 1"
        one = [Piece(f"1 {each.text}", {**each.choices, is_one: True}) for each in self._pieces(thing, names, choices)]
        several = (
            self._pieces(rest[0], names, choices)
            if rest
            else [Piece(f"{each.text}s", each.choices) for each in self._pieces(thing, names, choices)]
        )
        count = names.placeholder(number)
        return one + [Piece(f"{count} {each.text}", {**each.choices, is_one: False}) for each in several]

    @staticmethod
    def _joined(parts: list[list[Piece]]) -> list[Piece]:
        joined = []
        for chosen in product(*parts):
            choices: dict[str, bool] = {}
            for piece in chosen:
                if any(choices.setdefault(test, way) is not way for test, way in piece.choices.items()):
                    break
            else:
                joined.append(Piece("".join(piece.text for piece in chosen), choices))
        attribute_tests = [one for one in joined if sum(" is " in test for test in one.choices) <= 1]
        return attribute_tests or joined


class _Names:
    """Names the placeholders of one template, and collects their expressions, to be searched as well."""

    def __init__(self) -> None:
        self._by_source: dict[str, str] = {}
        self.left: list[ast.expr] = []

    def placeholder(self, node: ast.expr, conversion: str = "") -> str:
        source = ast.unparse(node)
        if source not in self._by_source:
            plain = _plain_name(node)
            taken = set(self._by_source.values())
            numbered = (f"{plain}_{number}" for number in range(2, 99))
            self._by_source[source] = plain if plain not in taken else next(n for n in numbered if n not in taken)
            self.left.append(node)
        return f"{{{self._by_source[source]}{conversion}}}"


def _plain_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_").lower()
        case ast.Subscript(value=value):
            return _plain_name(value).removesuffix("s") or "part"
        case ast.Call(args=[first, *_]) if _called(node) in {"listed", "len", "str", "capitalized", "shortened"}:
            return _plain_name(first)
        case ast.Call(func=ast.Attribute(value=value, attr="capitalize" | "rstrip" | "join" | "lower")):
            return "names" if isinstance(value, ast.Constant) else _plain_name(value)
        case ast.Call():
            return _called(node).strip("_").lower() or "part"
    return "part"


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _is_finding(node: ast.Call) -> bool:
    """Whether a call makes a Finding: by its name or one of its constructors, with a subject."""
    made = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    return isinstance(made, ast.Name) and made.id == "Finding" and bool(node.args)


def _makes_faults(function: ast.FunctionDef) -> bool:
    """Whether a function makes errors for people, or Findings."""
    nodes = list(ast.walk(function))
    calls = [each for each in nodes if isinstance(each, ast.Call)]
    raised = [each.exc for each in nodes if isinstance(each, ast.Raise) and isinstance(each.exc, ast.Call)]
    errors = [each for each in calls if _called(each).endswith("Error")] + raised
    return any(map(_is_finding, calls)) or any(_called(each) not in _FOR_PROGRAMMERS for each in errors)


def _sides(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _sides(node.left)
        yield from _sides(node.right)
    elif not isinstance(node, ast.Constant) or isinstance(node.value, str):
        yield node


def _assigned_once(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """The local names that are one of a few fixed texts."""
    assigned: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for name, value in _targets(node.targets[0], node.value):
                assigned.setdefault(name, []).append(value)
        elif isinstance(node, (ast.AugAssign, ast.For)) and isinstance(node.target, ast.Name):
            assigned.setdefault(node.target.id, []).extend([node.target] * 2)
    return {name: values[0] for name, values in assigned.items() if len(values) == 1 and _is_choice(values[0])}


def _targets(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for one, each in zip(targets, values, strict=True):
                yield from _targets(one, each)
        case ast.Tuple(elts=targets), ast.IfExp(test=test, body=ast.Tuple(elts=yes), orelse=ast.Tuple(elts=no)):
            for one, here, there in zip(targets, yes, no, strict=True):
                yield from _targets(one, ast.IfExp(test, here, there))


def _is_choice(value: ast.expr) -> bool:
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            return _is_choice(body) and _is_choice(orelse)
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.Call():
            return _called(value) == "counted"
    return False

"""Reading the text form.  Nothing is evaluated, and nesting costs no stack: texts may come from anywhere."""

from __future__ import annotations

import base64
import binascii
import copyreg
import difflib
import re
from collections.abc import Generator
from math import prod
from typing import Any, TypeAlias

import numpy as np

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import ProgramError, TypeMismatch
from egglift.ir.forms import SLOTS, Form
from egglift.ir.operators import OPERATORS, named
from egglift.ir.patterns import Expr, Operator
from egglift.ir.reader import STRING, WORD, Reader
from egglift.ir.run_time_lengths import size
from egglift.ir.scalars import arity
from egglift.ir.syntax import ALIASES, FORMS, RESERVED
from egglift.ir.text import dumps
from egglift.ir.types import SCALARS, Array, Scalar, Type, dims

_NUMBER = re.compile(r"-?(?:inf\b|nan\b|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)", re.ASCII)

_LENGTHS, _NONE = re.compile(r"\(\s*lengths\b"), re.compile(r"none\b")

#: a parsing step: yields the steps it waits for and is sent their results
Step: TypeAlias = Generator[Any, Any, Any]


def loads(text: str, check: bool = True) -> Expr:
    """The program that `text` describes.

    ProgramError (or ShapeError, TypeMismatch) with line and column where the text is malformed, or, with
    `check`, where the program is ill-typed.
    """
    if not isinstance(text, str):
        raise TypeMismatch(f"loads takes the text of a program, as dumps writes it, and not {text!r}")
    parser = _Parser(text, check)
    result: Expr = _run(parser.program())
    return result


def _run(step: Step) -> Any:
    """Runs a step and the steps it waits for, with a stack of its own instead of Python's."""
    stack = [step]
    value: Any = None
    while stack:
        try:
            waited = stack[-1].send(value)
        except StopIteration as stop:
            stack.pop()
            value = stop.value
        else:
            stack.append(waited)
            value = None
    return value


class _Parser(Reader):
    def __init__(self, text: str, check: bool) -> None:
        super().__init__(text)
        self.check = check
        self.names: dict[str, list[Expr]] = {}

    # ------------------------------------------------------------------------------------ expressions

    def program(self) -> Step:
        ends = self.declared()
        e = yield self.expr(None)
        if ends:
            self.expect(")", "to end (lengths")
        if self.peek():
            self.fail(f"expected the end of the program, found {self.found()}")
        return e

    def declared(self) -> bool:
        """The lengths that a program begins with, if it has some: `(lengths ((n 1 none 1 1048576)) ...`."""
        if self.match(_LENGTHS) is None:
            return False
        self.expect("(", "to begin the lengths")
        while self.peek() == "(":
            self.pos += 1
            self.skip()
            at = self.pos
            name = self.name("the name of a length")
            least = self.integer("the least length")
            most = None if self.match(_NONE) is not None else self.integer("the greatest length, or none")
            multiple, likes = self.integer("what it is a multiple of"), [self.integer("what kernels are chosen for")]
            while self.peek() == "/":
                self.pos += 1
                likes.append(self.integer("what else kernels are chosen for"))
            try:
                self.lengths[name] = size(name, least, most, multiple, likes[0] if len(likes) == 1 else tuple(likes))
            except ProgramError as error:
                self.fail(str(error), at, type(error))
            self.expect(")", f"to end the length {name}")
        self.expect(")", "to end the lengths")
        return True

    def expr(self, argument: Type | None) -> Step:
        self.skip()
        at = self.pos
        if self.peek() == "(":
            self.pos += 1
            e = yield self.form(argument, at)
        elif (number := self.match(_NUMBER)) is not None:
            e = self.literal(number, at)
        elif (word := self.match(WORD)) is not None:
            e = self.word(word, argument, at)
        else:
            self.fail(f"expected an expression, found {self.found()}")
        return self.checked(e, at)

    def checked(self, e: Expr, at: int) -> Expr:
        if self.check:
            try:
                type_of(e)
            except ProgramError as error:
                self.fail(str(error), at, type(error))
        return e

    def literal(self, text: str, at: int) -> Expr:
        if self.text[self.pos : self.pos + 1] != ":":
            self.fail(f"write the number's type: {text[:30]}:f32", at)
        self.pos += 1
        return p.Literal(self.number(text, at), self.scalar())

    def word(self, word: str, argument: Type | None, at: int) -> Expr:
        if word == "arg":
            if argument is None:
                self.fail("`arg` outside of a body; write (fn T ...) around it", at)
            return p.Arg(argument)
        if word in ("inf", "nan"):
            return self.literal(word, at)
        if word in ("true", "false"):
            typed = self.text[self.pos : self.pos + 1] == ":"
            self.pos += typed
            return p.Literal(word == "true", self.scalar() if typed else SCALARS["bool"])
        if not self.names.get(word):
            self.fail(f"no `let` names {word!r}; an input is written (input {word} T)", at)
        return self.names[word][-1]

    def form(self, argument: Type | None, at: int) -> Step:
        self.skip()
        start = self.pos
        head = self.match(WORD)
        if head is None:
            self.fail(f"expected the name of a pattern, found {self.found()}")
        head = ALIASES.get(head, head)
        if head == "let":
            e = yield self.let(argument)
        elif head == "fn":
            e = yield self.expr(self.type())
        elif head == "length":
            e = p.Literal(self.length(), self.scalar())
        elif head == "constant":
            e = self.constant(at)
        elif head in FORMS:
            e = yield self.slots(FORMS[head], argument, at)
        else:
            close = difflib.get_close_matches(head[:40], FORMS, 3)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            self.fail(f"no pattern or function {head!r}{hint}", start)
        self.expect(")", f"to end ({head}")
        return e

    def length(self) -> int:
        """A length as a number of the program."""
        at = self.pos
        n = self.size()
        if not isinstance(n, int):
            self.fail(f"{n} is none of the lengths that the program begins with", at)
        return n

    def let(self, argument: Type | None) -> Step:
        self.expect("(", "to begin the names of a let")
        bound: list[str] = []
        while self.peek() == "(":
            self.pos += 1
            self.skip()
            at = self.pos
            name = self.match(WORD)
            if name is None or name in RESERVED:
                self.fail("expected a name to bind" if name is None else f"{name!r} cannot be bound", at)
            value = yield self.expr(argument)
            self.names.setdefault(name, []).append(value)
            bound.append(name)
            self.expect(")", f"to end the definition of {name}")
        self.expect(")", "to end the names of a let")
        e = yield self.expr(argument)
        for name in bound:
            self.names[name].pop()
        return e

    def slots(self, form: Form, argument: Type | None, at: int) -> Step:
        values: dict[str, Any] = dict(form.fixed)
        for name, kind in form.slots:
            match kind:
                case "expr" | "body":
                    values[name] = yield self.expr(None if kind == "body" else argument)
                case "exprs":
                    values[name] = yield self.several(argument)
                case "optional":
                    values[name] = yield self.expr(argument)
                case "operator":
                    values[name] = yield self.operator()
                case _:
                    values[name] = self.plain(kind)
            if kind == "optional" and self.peek() == ")":  # it was left out: that was the array
                values["x"], values[name] = values[name], None
                break
        self.arity(form, values, at)
        return form.cls(**values)

    def arity(self, form: Form, values: dict[str, Any], at: int) -> None:
        """Functions, tuples and zips with the wrong number of parts are named where they stand."""
        if form.cls is p.Apply and len(values["args"]) != (n := arity(form.head)):
            self.fail(f"{form.head} takes {n} arguments, got {len(values['args'])}", at)
        if form.cls in (p.Tup, p.Zip) and len(values[form.slots[0][0]]) < 2:
            self.fail(f"{form.head} takes two or more", at)

    def several(self, argument: Type | None) -> Step:
        found: list[Expr] = []
        while self.peek() not in (")", ""):
            e = yield self.expr(argument)
            found.append(e)
        return tuple(found)

    def plain(self, kind: str) -> Any:
        match kind:
            case "size":
                return self.size()
            case "index":
                return self.integer("a component's number")
            case "type":
                return self.type()
            case "scalar":
                return self.scalar()
        return self.name("a name")

    def operator(self) -> Step:
        self.skip()
        at = self.pos
        if self.peek() != "(":
            name = self.match(WORD)
            if name not in OPERATORS:
                self.pos = at
                known = f"{', '.join(OPERATORS)}, each with :type, or (operator ...)"
                self.fail(f"expected an operator ({known}), found {self.found()}")
            self.expect(":", f"and the type of its operands after {name}, e.g. {name}:f32")
            return self.standard(name, at)
        self.pos += 1
        if self.match(WORD) != "operator":
            self.fail('expected (operator "name" ...)', at)
        name = self.name("the operator's name")
        claims = {"associative": False, "commutative": False}
        while (start := self.pos, claim := self.match(WORD))[1] in claims:
            claims[str(claim)] = True
        self.pos = start
        body = yield self.expr(None)
        neutral = None
        if self.peek() != ")":
            neutral = yield self.expr(None)
        self.expect(")", "to end the operator")
        return Operator(name, body, claims["associative"], claims["commutative"], neutral)

    def standard(self, name: str, at: int) -> Operator:
        t = self.scalar()
        try:
            return named(name, t)
        except ProgramError as error:
            self.fail(str(error), at, type(error))

    def constant(self, at: int) -> Expr:
        t = self.type()
        self.skip()
        start = self.pos
        if self.match(WORD) == "base64":
            text = self.match(STRING) or self.fail(f"expected the data in quotes, found {self.found()}")
            try:
                data = base64.b64decode(text[1:-1], validate=True)
            except (binascii.Error, ValueError):
                self.fail("the data is not base64 (was it shortened for reading?)", start)
        else:
            self.pos = start
            data = self.elements(t, at)
        return self.sized(p.Constant(t, data), at)

    def elements(self, t: Type, at: int) -> bytes:
        while isinstance(t, Array):
            t = t.element
        if not isinstance(t, Scalar):
            self.fail(f"a constant holds scalars, not {t}", at)
        values: list[bool | int | float] = []
        while self.peek() not in (")", ""):
            here = self.pos
            if t.name == "bool":
                values.append((word := self.match(WORD)) == "true")
                text = word if word in ("true", "false") else None
            else:
                text = self.match(_NUMBER)
                values.append(self.number(text, here) if text else 0)
            if text is None or (t.is_integer and isinstance(values[-1], float)):
                self.pos = here
                self.fail(f"expected a number of type {t}, found {self.found()}")
        try:
            return np.array(values, t.dtype).tobytes()
        except (OverflowError, ValueError) as error:
            self.fail(f"{error}: not numbers of type {t}", at)

    def sized(self, e: p.Constant, at: int) -> Expr:
        shape, t = dims(e.type), e.type
        while isinstance(t, Array):
            t = t.element
        if not isinstance(t, Scalar) or not all(isinstance(n, int) for n in shape):
            self.fail(f"a constant has a scalar type or an array of numbers of them, not {e.type}", at)
        want = prod(n for n in shape if isinstance(n, int)) * t.size
        if want != len(e.data):
            self.fail(f"{e.type} has {want // t.size} elements, got {len(e.data) // t.size}", at)
        return e


def _unchecked(text: str) -> Expr:
    return loads(text, check=False)


def _reduced(e: Expr) -> tuple[Any, ...]:
    """A program pickled as text: node by node, pickle would need a frame of its own for each level."""
    return _unchecked, (dumps(e),)


for _pattern in SLOTS:
    copyreg.pickle(_pattern, _reduced)

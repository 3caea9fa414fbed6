"""Reading the text form.  Nothing is evaluated, and nesting costs no stack: texts may come from anywhere."""

from __future__ import annotations

import base64
import binascii
import copyreg
import difflib
import json
import re
from collections.abc import Generator
from math import prod
from typing import Any, NoReturn, TypeAlias

import numpy as np

from egglift.ir import patterns as p
from egglift.ir.check import type_of
from egglift.ir.errors import ProgramError
from egglift.ir.operators import OPERATORS, named
from egglift.ir.patterns import Expr, Operator
from egglift.ir.scalars import FUNCTIONS
from egglift.ir.sizes import Size, SizeOp, Sym
from egglift.ir.syntax import ALIASES, FORMS, RESERVED, Form
from egglift.ir.text import dumps
from egglift.ir.traverse import EXPRS
from egglift.ir.types import SCALARS, Array, Scalar, Tuple, Type, dims

#: types and lengths nested deeper than this are refused
DEPTH = 100
#: messages longer than this are cut
MESSAGE = 400
_SPACE = re.compile(r"(?:\s|;[^\r\n]*)*", re.ASCII)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_NUMBER = re.compile(r"-?(?:inf\b|nan\b|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)", re.ASCII)
_INTEGER = re.compile(r"-?\d+", re.ASCII)
_OPERATOR = re.compile(r"[-+*/]")

#: a parsing step: yields the steps it waits for and is sent their results
Step: TypeAlias = Generator[Any, Any, Any]


def loads(text: str, check: bool = True) -> Expr:
    """The program that `text` describes.

    ProgramError (or ShapeError, TypeMismatch) with line and column where the text is malformed, or, with
    `check`, where the program is ill-typed.
    """
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


class _Parser:
    def __init__(self, text: str, check: bool) -> None:
        self.text, self.pos, self.check = text, 0, check
        self.names: dict[str, list[Expr]] = {}

    # ------------------------------------------------------------------------------------ characters

    def fail(self, message: str, at: int | None = None, kind: type[ProgramError] = ProgramError) -> NoReturn:
        at = self.pos if at is None else at
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        if len(message) > MESSAGE:  # it may quote a word or a number of the text, which has any length
            message = f"{message[:MESSAGE]}..."
        raise kind(f"line {line}, column {column}: {message}")

    def skip(self) -> None:
        found = _SPACE.match(self.text, self.pos)
        self.pos = found.end() if found else self.pos

    def peek(self) -> str:
        """The next character after blanks, "" at the end."""
        self.skip()
        return self.text[self.pos : self.pos + 1]

    def found(self) -> str:
        """What stands here, for messages."""
        self.skip()
        word = re.compile(r"[^\s()\[\],]+|.").match(self.text, self.pos)
        return repr(word.group()[:30]) if word else "the end of the text"

    def match(self, pattern: re.Pattern[str]) -> str | None:
        self.skip()
        found = pattern.match(self.text, self.pos)
        if found is None:
            return None
        self.pos = found.end()
        return found.group()

    def expect(self, character: str, why: str) -> None:
        if self.peek() != character:
            self.fail(f"expected {character!r} {why}, found {self.found()}")
        self.pos += 1

    # ------------------------------------------------------------------------------------ atoms

    def name(self, what: str) -> str:
        if (text := self.match(_STRING)) is not None:
            try:
                found = str(json.loads(text))
                found.encode()  # half of a surrogate pair is no character
            except ValueError:
                self.fail(f"{text[:30]} is not a string")
            return found
        if (word := self.match(_WORD)) is None:
            self.fail(f"expected {what}, found {self.found()}")
        return word

    def integer(self, what: str) -> int:
        self.skip()
        at = self.pos
        text = self.match(_INTEGER)
        if text is None:
            self.fail(f"expected {what}, found {self.found()}")
        return int(self.number(text, at))

    def number(self, text: str, at: int) -> int | float:
        if len(text) > 1000:
            self.fail("a number of more than 1000 digits", at)
        return int(text) if _INTEGER.fullmatch(text) else float(text)

    def size(self, depth: int = 0) -> Size:
        if depth > DEPTH:
            self.fail(f"a length nested more than {DEPTH} deep")
        if self.peek() != "(":
            if self.peek() in set("-0123456789"):
                return self.integer("a length")
            return Sym(self.name("a length"))
        self.pos += 1
        a = self.size(depth + 1)
        op = self.match(_OPERATOR)
        if op is None:
            self.fail(f"expected one of + - * / in a length, found {self.found()}")
        b = self.size(depth + 1)
        self.expect(")", "after a length")
        return SizeOp(op, a, b)

    def type(self, depth: int = 0) -> Type:
        if depth > DEPTH:
            self.fail(f"a type nested more than {DEPTH} deep")
        if self.peek() == "[":
            self.pos += 1
            element = self.type(depth + 1)
            self.expect("]", "after the element type")
            return Array(self.size(), element)
        if self.peek() == "(":
            return self.tuple_type(depth)
        return self.scalar()

    def tuple_type(self, depth: int) -> Tuple:
        self.pos += 1
        items = [self.type(depth + 1)]
        while self.peek() == ",":
            self.pos += 1
            items.append(self.type(depth + 1))
        self.expect(")", "after the types of a tuple")
        if len(items) < 2:
            self.fail("a tuple type has two items or more: (f32, i32)")
        return Tuple(tuple(items))

    def scalar(self) -> Scalar:
        self.skip()
        at = self.pos
        word = self.match(_WORD)
        if word not in SCALARS:
            self.pos = at
            self.fail(f"expected a type ({', '.join(SCALARS)}, [T]n or (T, T)), found {self.found()}")
        return SCALARS[word]

    # ------------------------------------------------------------------------------------ expressions

    def program(self) -> Step:
        e = yield self.expr(None)
        if self.peek():
            self.fail(f"expected the end of the program, found {self.found()}")
        return e

    def expr(self, argument: Type | None) -> Step:
        self.skip()
        at = self.pos
        if self.peek() == "(":
            self.pos += 1
            e = yield self.form(argument, at)
        elif (number := self.match(_NUMBER)) is not None:
            e = self.literal(number, at)
        elif (word := self.match(_WORD)) is not None:
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
        head = self.match(_WORD)
        if head is None:
            self.fail(f"expected the name of a pattern, found {self.found()}")
        head = ALIASES.get(head, head)
        if head == "let":
            e = yield self.let(argument)
        elif head == "fn":
            e = yield self.expr(self.type())
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

    def let(self, argument: Type | None) -> Step:
        self.expect("(", "to begin the names of a let")
        bound: list[str] = []
        while self.peek() == "(":
            self.pos += 1
            self.skip()
            at = self.pos
            name = self.match(_WORD)
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
        if form.cls is p.Apply and len(values["args"]) != (n := FUNCTIONS[form.head].arity):
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
            name = self.match(_WORD)
            if name not in OPERATORS:
                self.pos = at
                known = f"{', '.join(OPERATORS)}, each with :type, or (operator ...)"
                self.fail(f"expected an operator ({known}), found {self.found()}")
            self.expect(":", f"and the type of its operands after {name}, e.g. {name}:f32")
            return self.standard(name, at)
        self.pos += 1
        if self.match(_WORD) != "operator":
            self.fail('expected (operator "name" ...)', at)
        name = self.name("the operator's name")
        claims = {"associative": False, "commutative": False}
        while (start := self.pos, claim := self.match(_WORD))[1] in claims:
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
        if self.match(_WORD) == "base64":
            text = self.match(_STRING) or self.fail(f"expected the data in quotes, found {self.found()}")
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
                values.append((word := self.match(_WORD)) == "true")
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


for _pattern in EXPRS:
    copyreg.pickle(_pattern, _reduced)

"""Reading the text form's characters, names, numbers, lengths and types."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from egglift.ir.errors import ProgramError
from egglift.ir.lengths import Length
from egglift.ir.sizes import Size, SizeOp, Sym, computed
from egglift.ir.types import NAMED, Array, Scalar, Tuple, Type

#: types and lengths nested deeper than this are refused
DEPTH = 100
#: messages longer than this are cut
MESSAGE = 400
_SPACE = re.compile(r"(?:\s|;[^\r\n]*)*", re.ASCII)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_INTEGER = re.compile(r"-?\d+", re.ASCII)
_OPERATOR = re.compile(r"[-+*/]")


class Reader:
    """A text, read from `pos` on.  ProgramError with line and column where something else was expected."""

    def __init__(self, text: str) -> None:
        self.text, self.pos = text, 0
        self.lengths: dict[str, int] = {}  # those that are known when a kernel is called

    # ------------------------------------------------------------------------------------ characters

    def fail(self, message: str, at: int | None = None, kind: type[ProgramError] = ProgramError) -> NoReturn:
        at = self.pos if at is None else at
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        if len(message) > MESSAGE:  # it may quote a word or a number of the text, which has any length
            message = f"{message[:MESSAGE]}..."
        raise kind(f"line {line}, column {column}: {message}")

    def skip(self) -> None:
        space = _SPACE.match(self.text, self.pos)
        self.pos = space.end() if space else self.pos

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
        if (text := self.match(STRING)) is not None:
            try:
                found = str(json.loads(text))
                found.encode()  # half of a surrogate pair is no character
            except ValueError:
                self.fail(f"{text[:30]} is not a string")
            return found
        if (word := self.match(WORD)) is None:
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
            name = self.name("a length")
            return self.lengths.get(name, Sym(name))
        self.pos += 1
        a = self.size(depth + 1)
        op = self.match(_OPERATOR)
        if op is None:
            self.fail(f"expected one of + - * / in a length, found {self.found()}")
        b = self.size(depth + 1)
        self.expect(")", "after a length")
        if isinstance(a, int) and isinstance(b, int) and (isinstance(a, Length) or isinstance(b, Length)):
            return computed(op, a, b)
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
        word = self.match(WORD)
        if word not in NAMED:
            self.pos = at
            self.fail(f"expected a type ({', '.join(NAMED)}, [T]n or (T, T)), found {self.found()}")
        return NAMED[word]

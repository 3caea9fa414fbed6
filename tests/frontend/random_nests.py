"""Random functions in the subset of C that is taken: nests in sequence and within each other, over a few arrays.

All subscripts are within their arrays, and integers stay small; what an iteration needs of others is left to chance, so
that many are to be refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

N = 6
HEAD = f"void f(double A[{N}][{N}], double B[{N}][{N}], double x[{N}], double y[{N}], int k[{N}], double *r)"


@dataclass
class Writer:
    """Writes a function.  loops: iterators with their least and largest values; scalars: those that have a value."""

    random: Random
    lines: list[str] = field(default_factory=list)
    loops: list[tuple[str, int, int]] = field(default_factory=list)
    scalars: list[str] = field(default_factory=list)
    names: int = 0
    targets: list[str] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    rows: list[str] = field(default_factory=list)
    stepping: bool = False

    def function(self) -> str:
        """The whole text."""
        for _ in range(self.random.randint(1, 3)):
            self.targets = self.random.sample(["A", "B", "x", "y", "*r"], self.random.randint(1, 2))
            self.places = {}
            if self.random.random() < 0.2:
                self.steps()
            else:
                self.loop(1)
        return "\n".join([HEAD, "{", *self.lines, "}"])

    def put(self, text: str) -> None:
        self.lines.append("    " * (1 + len(self.loops)) + text)

    def steps(self) -> None:
        """Nests again and again."""
        self.put("for (int t = 0; t < 3; t++) {")
        self.stepping = True
        for _ in range(self.random.randint(1, 2)):
            self.loop(2)
        if self.random.random() < 0.3:
            free = [n for n in ("x", "y") if n not in self.targets]
            self.put(f"{self.random.choice([*free, 'y'])}[{self.random.choice(['t', '5 - t'])}] = *r + t;")
        self.stepping = False
        self.put("}")

    def loop(self, depth: int) -> None:
        """A loop with some statements, loops among them."""
        i = "ijlm"[len(self.loops)]
        low, high = self.random.choice([(0, N - 1), (0, N - 1), (0, N - 1), (1, N - 2), (0, N - 2), (2, N - 1)])
        first, last = str(low), str(high)
        outer = [o for o in self.loops if low <= o[1] and o[2] <= high]
        kind = self.random.random()
        if outer and kind < 0.15:
            first = outer[-1][0]
        elif outer and kind < 0.3:
            last = outer[-1][0]
        down = self.random.random() < 0.15
        step = f"{i}--" if down else self.random.choice([f"{i}++"] * 5 + [f"{i} += 2"] * (first == str(low)))
        ends = (last, ">=", first) if down else (first, "<=", last)
        if self.random.random() < 0.1 and kind >= 0.3:
            low, high, size = 0, N - 1, self.random.choice([2, 3, 4])
            self.put(f"for (int {i}{i} = 0; {i}{i} < {N}; {i}{i} += {size})")
            end = f"{i}{i} + {size}" if N % size == 0 else f"({i}{i} + {size} < {N} ? {i}{i} + {size} : {N})"
            self.put(f"for (int {i} = {i}{i}; {i} < {end}; {i}++) {{")
        else:
            self.put(f"for (int {i} = {ends[0]}; {i} {ends[1]} {ends[2]}; {step}) {{")
        before, rows = list(self.scalars), list(self.rows)
        self.loops.append((i, low, high))
        if self.random.random() < 0.1:
            self.row()
        for _ in range(self.random.choice([1, 1, 2, 2, 3])):
            if depth < 3 and self.random.random() < 0.6:
                if self.random.random() < 0.5:
                    self.declare()
                self.loop(depth + 1)
            else:
                self.statement()
        self.loops.pop()
        self.scalars, self.rows = before, rows
        self.put("}")

    def row(self) -> None:
        """A local array, which gets its values in a loop of its own."""
        self.names += 1
        name = f"w{self.names}"
        self.put(f"double {name}[{N}];")
        self.put(f"for (int p = 0; p < {N}; p++)")
        self.loops.append(("p", 0, N - 1))
        self.put(f"{name}[p] = {self.expression(1)};")
        self.loops.pop()
        self.rows.append(name)

    def declare(self) -> None:
        self.names += 1
        self.put(f"double s{self.names} = {self.expression(1)};")
        self.scalars.append(f"s{self.names}")

    def statement(self) -> None:
        """An assignment, also within an if, or a declaration."""
        kind = self.random.random()
        if kind < 0.2:
            self.declare()
        elif kind < 0.24 and len(self.scalars) > 1:
            value, (best, at) = self.expression(1), self.random.sample(self.scalars[-2:], 2)
            more = self.random.choice(["", f" && {self.test()}"])
            op, other = (
                self.random.choice(["<", ">", "<="]),
                self.random.choice([self.loops[-1][0], self.expression(1)]),
            )
            self.put(f"if ({value} {op} {best}{more}) {{ {best} = {value}; {at} = {other}; }}")
        elif kind < 0.27 and self.scalars:
            name, value = self.scalars[-1], self.expression(1)
            self.put(f"if ({value} {self.random.choice(['<', '>', '>='])} {name}) {name} = {value};")
        elif kind < 0.35:
            self.put(f"if ({self.test()}) {{ {self.assignment()} }}")
        elif kind < 0.42:
            self.put(f"if ({self.test()}) {self.assignment()} else {{ {self.assignment()} {self.assignment()} }}")
        else:
            self.put(self.assignment())

    def assignment(self) -> str:
        target = self.random.choice([*self.scalars[-2:], self.target(), self.target()])
        op = self.random.choice(["=", "=", "+=", "+=", "+=", "-=", "*="])
        return f"{target} {op} {self.expression(2)};"

    def target(self) -> str:
        """An element of the arrays that this nest writes, mostly the same one of each iteration."""
        name = self.random.choice(self.targets)
        known = self.places.get(name, "")
        around = "".join(i for i, _, _ in self.loops)
        if known and self.random.random() < 0.9 and set(known) & set("ijl") <= set(around):
            return known
        if name != "*r":
            own = self.random.sample(self.loops, min(len(self.loops), 2 if name in "AB" else 1))
            at = [self.random.choice([i] * 6 + [f"{N - 1} - {i}"]) for i, _, _ in own]
            at += [str(self.random.randrange(N))] * ((2 if name in "AB" else 1) - len(at))
            known = name + "".join(f"[{i}]" for i in at)
        self.places[name] = known or name
        return self.places[name]

    def test(self) -> str:
        i, low, high = self.random.choice(self.loops)
        other = self.random.choice([o[0] for o in self.loops] + [str(self.random.randint(low, high))])
        return self.random.choice(
            [
                f"{i} < {other}",
                f"{i} == {other}",
                f"{i} >= {other} && {i} > 1",
                f"{self.element()} > 0.25",
                f"k[{i}] > 2",
            ]
        )

    def subscript(self) -> str:
        i, low, high = self.random.choice(self.loops)
        ways = [i, i, i, f"{N - 1} - {i}" if low >= 0 else i, str(self.random.randrange(N))]
        ways += [f"{i} - 1"] if low > 0 else []
        ways += [f"{i} + 1"] if high < N - 1 else []
        return self.random.choice(ways)

    def element(self) -> str:
        others = [n for n in ("A", "B", "x", "y", "*r") if n not in self.targets]
        name = self.random.choice(self.targets if self.random.random() < 0.06 else others)
        if name == "*r":
            return name
        return f"{name}[{self.subscript()}]" + (f"[{self.subscript()}]" if name in "AB" else "")

    def expression(self, depth: int) -> str:
        kind = self.random.random()
        if self.rows and kind < 0.1:
            return f"{self.rows[-1]}[{self.subscript()}]"
        if depth == 0 or kind < 0.35:
            i = self.random.choice(self.loops)[0]
            some = [self.element(), self.element(), self.element(), "0.5", "2.0f", i, f"x[k[{i}]]", f"k[{i}] / 2"]
            return self.random.choice([*some, *self.scalars[-2:], *(["t", "x[t]"] if self.stepping else [])])
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        if kind < 0.5:
            return f"({self.test()} ? {a} : {b})"
        return f"({a} {self.random.choice(['+', '-', '*', '+'])} {b})"


def random_function(random: Random) -> str:
    """The text of a function `f`."""
    return Writer(random).function()

"""Random expressions over C's arithmetic types, of which each value is defined."""

from __future__ import annotations

from random import Random

LENGTH = 32
TYPES = {
    "a": "signed char",
    "b": "unsigned char",
    "c": "short",
    "d": "unsigned short",
    "e": "int",
    "g": "unsigned",
    "h": "long",
    "u": "size_t",
    "x": "float",
    "y": "double",
}
INTEGERS = "abcdeghu"


def random_arithmetic(random: Random) -> str:
    """The text of a function `f` that computes an array of some type from arrays of all types."""
    integral = random.random() < 0.6
    kind = TYPES[random.choice(INTEGERS if integral else "xy")]
    value = integer(random, 4) if integral else number(random, 4)
    arrays = ", ".join(f"const {t} {n}[{LENGTH}]" for n, t in TYPES.items())
    loop = f"for (int i = 0; i < {LENGTH}; i++)\n        out[i] = {value};"
    return f"void f({arrays}, {kind} out[{LENGTH}])\n{{\n    {loop}\n}}"


def integer(random: Random, depth: int) -> str:
    """An expression of some integer type.  (gcc is told that overflow wraps around.)"""
    kind = random.random()
    if depth <= 0 or kind < 0.2:
        constants = ["3", "-2", "7u", "100L", "0x1f", "'a'", "i", "sizeof(short)", "012"]
        return random.choice([f"{n}[i]" for n in INTEGERS] + constants)
    a, b = integer(random, depth - 1), integer(random, depth - 1)
    if kind < 0.3:
        return f"({a} {random.choice('/%')} {random.choice(['3', '-5', '11u', '7L', f'(({b} & 7) + 1)'])})"
    if kind < 0.38:
        return f"({a} {random.choice(['<<', '>>'])} {random.randrange(7)})"
    if kind < 0.46:
        return f"({condition(random, depth - 1)} ? {a} : {b})"
    if kind < 0.54:
        return f"(({TYPES[random.choice(INTEGERS)]}) {a})"
    if kind < 0.62:
        return f"{random.choice(['-', '~', '!', '+'])}{a}" if not a.startswith("-") else a
    if kind < 0.68:
        return f"({condition(random, depth - 1)})"
    return f"({a} {random.choice('+-*&|^')} {b})"


def condition(random: Random, depth: int) -> str:
    """A condition."""
    some = integer if random.random() < 0.7 else number
    a, b = some(random, depth), some(random, depth)
    plain = f"{a} {random.choice(['<', '<=', '>', '>=', '==', '!='])} {b}"
    return plain if random.random() < 0.7 else f"({plain}) {random.choice(['&&', '||'])} {integer(random, 0)}"


def number(random: Random, depth: int) -> str:
    """An expression of type float or double, of moderate size."""
    kind = random.random()
    if depth <= 0 or kind < 0.25:
        return random.choice(["x[i]", "y[i]", "x[i]", "y[i]", "a[i]", "1.5f", "0.25", "2", "i", "1e-3f", "c[i]"])
    a, b = number(random, depth - 1), number(random, depth - 1)
    if kind < 0.35:
        return f"({condition(random, depth - 2)} ? {a} : {b})"
    if kind < 0.5:
        f = random.choice(["fabs", "fabsf", "floor", "ceilf", "fmin", "fmaxf", "sqrt"])
        return f"{f}({a}, {b})" if f in ("fmin", "fmaxf") else f"sqrt(fabs({a}))" if f == "sqrt" else f"{f}({a})"
    if kind < 0.6:
        return f"((float) {a})"
    return f"({a} {random.choice('+-*')} {b})"

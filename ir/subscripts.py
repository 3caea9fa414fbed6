"""What einsum's subscripts say of the axes of its arrays: a letter for each, also for `...` and of lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from egglift.ir.errors import ShapeError, TypeMismatch

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
DOTS = "..."


def parsed(subscripts: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of each array, which has so many axes, and of the result.

    `...` stands for letters of its own: the last of them are those of the last axes that an array leaves unnamed.

    "...ij,jk", ranks 3 and 2 -> ["Zij", "jk"], "Zik"
    """
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    given = left.split(",")
    if len(given) != len(ranks) or not all(_is_legal(part) for part in (*given, right)):
        raise TypeMismatch(
            f"einsum({subscripts!r}) of {len(ranks)} arrays: give letters for the axes of each array, with commas "
            "between them, and after -> those of the result; one ... stands for axes that have no letters"
        )
    unnamed = [n - len(part) + len(DOTS) for part, n in zip(given, ranks, strict=True) if DOTS in part]
    free = "".join(c for c in reversed(LETTERS) if c not in text)[: max([0, *unnamed])]
    expanded = [_expanded(part, n, free, subscripts) for part, n in zip(given, ranks, strict=True)]
    once = sorted(c for c in {*left} - {*",."} if left.count(c) == 1)
    wanted = right.replace(DOTS, free) if arrow else free + "".join(once)
    if arrow and free and DOTS not in right:
        raise TypeMismatch(f"einsum({subscripts!r}): the axes of ... are not summed: write ... in the result, too")
    if len({*wanted}) < len(wanted) or not {*wanted} <= {*"".join(expanded)}:
        raise TypeMismatch(f"einsum({subscripts!r}): the result's letters must differ, and each be one of an array")
    return expanded, wanted


def _is_legal(part: str) -> bool:
    return all(c in LETTERS for c in part.replace(DOTS, "", 1))


def _expanded(part: str, rank: int, free: str, subscripts: str) -> str:
    """The letters of an array's axes."""
    named = part.replace(DOTS, "")
    if len(named) > rank or (DOTS not in part and len(named) < rank):
        raise ShapeError(f"einsum({subscripts!r}): {part!r} names {len(named)} axes of an array of {rank}")
    return part.replace(DOTS, free[len(free) - (rank - len(named)) :])


def written(args: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """Arrays and lists that number their axes as subscripts and arrays; TypeMismatch where they are no such.

    A, [0, 1], B, [1, 2], [0, 2] -> "ab,bc->ac", (A, B)
    """
    pairs = [args[i : i + 2] for i in range(0, len(args), 2)]
    last = pairs.pop()[0] if len(args) % 2 else None
    lists = [pair[1] for pair in pairs] + ([] if last is None else [last])
    if not pairs or not all(isinstance(numbers, list | tuple) for numbers in lists):
        raise TypeMismatch(f'einsum takes subscripts first, as in einsum("ij,jk->ik", A, B), and not {args[0]!r}')
    texts = ["".join(_letter(i) for i in numbers) for numbers in lists]
    given = ",".join(texts[: len(pairs)])
    return given if last is None else f"{given}->{texts[-1]}", [pair[0] for pair in pairs]


def _letter(i: object) -> str:
    if i is Ellipsis:
        return DOTS
    if isinstance(i, int) and 0 <= i < len(LETTERS):
        return LETTERS[i]
    raise TypeMismatch(f"einsum numbers axes from 0 to {len(LETTERS) - 1}, and ... for the rest, and not {i!r}")

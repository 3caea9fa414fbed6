"""What the rules of translation know and may ask: a kernel under construction, and the translation of other terms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

from egglift.codegen.emission.builder import Builder, Target
from egglift.codegen.kernel.views import View
from egglift.ir.patterns import Expr


class Scope(NamedTuple):
    """A body being evaluated: its argument.  serial tells apart evaluations of one body."""

    serial: int
    arg: View | None


ROOT = Scope(0, None)


class Translator(Builder, ABC):
    """A builder that translates terms: the files for single patterns ask it for what stands around them."""

    @abstractmethod
    def view(self, t: Expr, scope: Scope) -> View:
        """The view of a term's value."""

    @abstractmethod
    def value(self, body: Expr, arg: View) -> View:
        """The view of `body`'s value for `arg`."""

    @abstractmethod
    def entered(self, arg: View) -> Scope:
        """A scope for a body of which nothing is evaluated yet."""

    @abstractmethod
    def prepare(self, nodes: tuple[Expr, ...], scope: Scope) -> None:
        """Evaluate what is kept in memory, in order."""

    @abstractmethod
    def emit(self, t: Expr, target: Target, scope: Scope) -> None:
        """Write the value of `t` to `target`."""

    @abstractmethod
    def apply(self, body: Expr, arg: View, target: Target, given: Mapping[Expr, View] = {}) -> None:
        """Write the value of `body` for `arg`; `given`: what is in memory already of what it keeps there."""

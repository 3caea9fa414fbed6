"""Laws without end and programs without bottom: a hard stop with what was found, or an error; never the stack."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import egglift as el
import egglift.search
from egglift.egraph.rules.phases import Limits
from egglift.egraph.saturation.saturate import saturate
from egglift.egraph.saturation.subprocess_run import apart
from egglift.ir.errors import ShapeError
from tests.egraph.saturation import working

pytestmark = pytest.mark.short

#: every product grows to trees of products, ever larger
GROWS = """
;;; grow
;; x * y = abs (x + x) * -(x * y), which is wrong, without end
(rule ((= e (Op2 "mul" a b))) ((union e (Op2 "mul" (Op1 "abs" (Op2 "add" a a)) (Op1 "neg" e)))))
(rule ((= e (Op1 o a))) ((union e (Op1 o (Op1 o e)))))
(rule ((= e (Op2 o a b))) ((union e (Op2 o e (Op2 o b e)))))
"""
x = el.array("x", el.f32, 64)


def test_a_law_that_grows_for_ever_is_stopped_at_the_row_limit() -> None:
    limits = Limits(rows=2000, seconds=3600, grace=3600)
    found = saturate((x * 2).expr, rules=[GROWS], limits=limits)
    assert found.stopped == "rows"
    assert found.rows < 20 * limits.rows
    assert found.graph.term(found.graph.root) is not None


def test_a_stop_of_a_users_laws_names_the_most_matched_one() -> None:
    few = Limits(rows=1500, seconds=3600, grace=3600)
    with pytest.warns(RuntimeWarning, match=r"stopped at its limit of rows with \d+ rows; grow matched most often"):
        kernel = el.optimize(x * 2, "pocl", rules=[GROWS], limits=few, measure="none", cache=False)
    assert kernel.candidates


#: one iteration takes minutes and gigabytes
TRIPLES = """
;;; triples
;; p + (q - r * s) for any three sums, products, ...
(rule ((= p (Op2 f a b)) (= q (Op2 g c d)) (= r (Op2 h e i)))
      ((union p (Op2 "add" (Op2 "sub" p (Op2 "mul" q r)) (Op2 "mul" q r)))))
"""
FEW = Limits(rows=1_000_000, seconds=3600, memory=400 << 20, grace=3600)  # memory ends it, however slow the machine is


def test_a_law_that_explodes_is_ended_and_the_rest_lowered() -> None:
    found = saturate((x * 2 + 1).expr, rules=[TRIPLES], limits=FEW)
    assert (found.stopped, found.forced) == ("memory", "memory")
    assert [phase.name for phase in found.schedule if phase.name.endswith("-book")]
    assert {"map-global", "map-seq"} <= {law.name for law in found.laws}
    assert found.rows < FEW.rows


def test_a_law_that_explodes_at_once_leaves_what_the_book_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process dies before it says a word, each time."""
    monkeypatch.setattr("egglift.egraph.saturation.saturate.apart", lambda *_: apart(working.crashes, 60, 1 << 30))
    found, alone = saturate((x * 2).expr, rules=[TRIPLES]), saturate((x * 2).expr)
    assert found.forced == found.stopped == "crash"
    assert found.graph.classes == alone.graph.classes


def test_what_a_law_found_before_it_exploded_can_be_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("egglift.search", "egglift.egraph.explanation.derive"):
        monkeypatch.setattr(sys.modules[name], "saturate", lambda p, **named: saturate(p, **{**named, "limits": FEW}))
    total = (el.array("y", el.i32, 1 << 16) * 2 + 1).reduce(el.add, 0)
    with pytest.warns(RuntimeWarning, match="ran out of memory within an iteration of laws in `rules`"):
        kernel = el.optimize(total, "pocl", rules=[TRIPLES], measure="none", cache=False)
    assert kernel(np.arange(1 << 16, dtype=np.int32)) == 0  # 2^32, counted in 32 bits
    assert any(c.form is not None for c in kernel.candidates)
    assert "bound by" in kernel.explain()


SCRIPT = """
import os, signal, sys, threading, warnings
import egglift as el
from egglift.egraph.saturation.subprocess_run import apart
from egglift.egraph.rules.phases import Limits
from egglift.egraph.saturation.saturate import saturate

def explore(memory):
    limits = Limits(20_000, 3600, memory, grace=3600)
    found = saturate((el.array("x", el.f32, 64) * 2 + 1).expr, rules=[{law!r}], limits=limits)
    print(found.stopped, flush=True)

thread = threading.Thread(target=explore, args=[400 << 20], daemon=True)
thread.start()
thread.join()
try:
    threading.Timer(1.0, os.kill, [os.getpid(), signal.SIGINT]).start()
    explore(1 << 40)
except KeyboardInterrupt:
    print("interrupted")
threading.Thread(target=explore, args=[1 << 40], daemon=True).start()
"""


def test_an_unguarded_script_may_explore_in_a_daemon_thread(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(law=TRIPLES))
    done = subprocess.run([sys.executable, "-X", "faulthandler", path], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, "memory\ninterrupted\n"), done.stderr
    assert "Traceback" not in done.stderr  # a thread that is within egglog when Python ends makes its binding complain


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": GROWS}, r"write rules=\[text\]"),
        ({"budget": -1.0}, "0 or more, not -1.0"),
        ({"budget": float("nan")}, "0 or more, not nan"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(el.ArgumentError, match=message):
        el.optimize(x * 2, "pocl", cache=False, **options)  # type: ignore[arg-type]


def operations(count: int) -> el.Value:
    def body(v: el.Value) -> el.Value:
        for _ in range(count):
            v = v * 0.5 + 0.25
        return v

    return x.map(body)


def test_a_body_of_a_thousand_operations_in_a_row_is_optimised() -> None:
    """Its nodes are few, and yet nest more deeply than Python's own stack."""
    kernel = el.optimize(operations(500), "pocl", measure="none", cache=False)
    given = np.linspace(-1, 1, 64, dtype=np.float32)
    np.testing.assert_allclose(kernel(given), np.full(64, 0.5), rtol=1e-6)


def test_deep_programs_are_pickled_and_copied_as_the_very_same() -> None:
    program = x
    for _ in range(3000):
        program = program.map(lambda v: v + 1)
    expr = program.expr
    assert pickle.loads(pickle.dumps(expr)) is expr
    assert copy.deepcopy(expr) is expr


def test_types_without_bottom_are_refused_as_they_are_built() -> None:
    value = el.scalar("v", el.f32)
    with pytest.raises(ShapeError, match="nested more than 100 deep"):
        for _ in range(200):
            value = el.fill(1, value)
    pair = el.scalar("v", el.f32)
    with pytest.raises(ShapeError, match="more than 256 numbers and arrays"):
        for _ in range(60):
            pair = el.tuple(pair, pair)


def test_texts_take_values_and_name_what_is_none() -> None:
    assert el.loads(el.dumps(x * 2)) is (x * 2).expr
    assert el.pretty(x) == el.dumps(x)
    with pytest.raises(el.TypeMismatch, match="5 .* is not a program"):
        el.dumps(5)

"""Python does not end within a daemon thread's call into native code."""

from __future__ import annotations

import subprocess
import sys

from egglift.ir.native_calls import PATIENCE

CALLS = """
import sys, threading, time
from egglift.ir.native_calls import native_call

begun = threading.Event()
def call(seconds):
    with native_call():
        begun.set()
        time.sleep(seconds)
        print("done", flush=True)
    with native_call():
        print("again", flush=True)

threading.Thread(target=call, args=[{seconds}], daemon=True).start()
begun.wait()
"""


def _said(seconds: float) -> str:
    script = CALLS.format(seconds=seconds)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60).stdout


def test_the_end_waits_for_a_call_and_lets_no_further_one_in() -> None:
    assert _said(0.5) == "done\n"


def test_the_end_does_not_wait_for_ever() -> None:
    assert _said(20 * PATIENCE) == ""

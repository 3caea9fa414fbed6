"""Python does not end within a daemon thread's call into native code."""

from __future__ import annotations

import subprocess
import sys

CALLS = """
import sys, threading, time
from egglift.ir import native_calls
from egglift.ir.native_calls import native_call

native_calls.PATIENCE = {patience}

begun = threading.Event()
def call(seconds):
    with native_call():
        begun.set()
        while not native_calls._ending:
            time.sleep(0.001)
        time.sleep(seconds)
        print("done", flush=True)
    with native_call():
        print("again", flush=True)

threading.Thread(target=call, args=[{seconds}], daemon=True).start()
begun.wait()
"""


def _said(seconds: float, patience: float) -> str:
    command = [sys.executable, "-c", CALLS.format(seconds=seconds, patience=patience)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout


def test_the_end_waits_for_a_call_and_lets_no_further_one_in() -> None:
    assert _said(0.5, patience=600) == "done\n"


def test_the_end_does_not_wait_for_ever() -> None:
    assert _said(1000, patience=0.5) == ""

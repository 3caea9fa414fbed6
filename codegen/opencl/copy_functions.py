"""Copies from global to local memory that go on while a work-item computes: instructions of NVIDIA's."""

from __future__ import annotations

from egglift.codegen.kernel.imperative import COPIED


def asynchronous_copy(size: int, helpers: dict[str, str]) -> str:
    """A function of our own that begins to copy so many bytes to an address of local memory, where they are aligned.

    16 bytes go past the cache of a unit: what one group has read, others seldom read there.
    """
    assert size in COPIED, size
    name, cache = f"copy_{size}", "cg" if size == 16 else "ca"
    helpers[name] = (
        f"void {name}(uint to, const global void* from) {{\n"
        f'  asm volatile("cp.async.{cache}.shared.global [%0], [%1], {size};"\n'
        '    : : "r"(to), "l"((ulong)from) : "memory");\n}'
    )
    return name


def close_copies(helpers: dict[str, str]) -> str:
    """The function that makes a group of the copies begun so far."""
    helpers["close_copies"] = 'void close_copies() {\n  asm volatile("cp.async.commit_group;" : : : "memory");\n}'
    return "close_copies"


def await_copies(open: int, helpers: dict[str, str]) -> str:
    """The function that waits for all groups of copies but the last `open` ones."""
    name = f"await_copies_{open}"
    helpers[name] = f'void {name}() {{\n  asm volatile("cp.async.wait_group {open};" : : : "memory");\n}}'
    return name

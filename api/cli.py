"""The command line: `egglift devices | optimize | offload | session | batch | calibrate | records | laws | ...`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from egglift import archive, lawbook, rulecheck, session_lines
from egglift.batch import run_batch
from egglift.codegen.device.arguments import operands
from egglift.codegen.device.device import devices, open_device
from egglift.codegen.export.folder import LANGUAGES
from egglift.costmodel.calibration.calibrate import calibrate
from egglift.costmodel.links.links import save_links
from egglift.costmodel.links.measure import measure_links
from egglift.costmodel.measurement.expected_results import expect
from egglift.costmodel.measurement.measuring import DEADLINE, SAMPLE
from egglift.costmodel.profiles.profile import profile_path
from egglift.distribution.opening import open_devices
from egglift.ir.errors import EggliftError, RuleError
from egglift.ir.pairs import paired
from egglift.ir.signature import inputs_of
from egglift.ir.text import dumps, pretty
from egglift.kernel import Kernel
from egglift.length_kernel import LengthKernel
from egglift.offload import offload
from egglift.optimize import optimize
from egglift.processes.interrupts import delivered
from egglift.programs import load_program
from egglift.report import candidate_table, device_json, device_lines, result_json

PROGRAM = """PROGRAM is a file with a program's text, or a Python file, which is run: FILE.py for its variable
`program`, FILE.py:NAME for another one; or a loop nest in C, FILE.c:NAME for one of several functions."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; exit status 0: done, 1: done with failures, 2: an error, one line on stderr."""
    arguments = parser().parse_args(argv)
    try:
        with delivered():
            status: int = arguments.run(arguments)
        return status
    except EggliftError as error:
        print(f"egglift: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        print("egglift: interrupted", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """The arguments of every command."""
    top = argparse.ArgumentParser(
        prog="egglift", description="Functional array programs in, the fastest equal OpenCL program out."
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _command(commands, "devices", _devices, "list the OpenCL devices")
    one = _command(commands, "optimize", _optimize, "optimise a program: its kernel, the candidates, a check")
    one.add_argument("program", metavar="PROGRAM", help="a program's text, or a Python file (FILE.py:NAME)")
    _choices(one)
    one.add_argument(
        "--size",
        type=_size,
        action="append",
        default=[],
        metavar="NAME=N",
        help="what a length in C is: n=4096, A=64,80",
    )
    one.add_argument("--explain", action="store_true", help="also say why, law by law")
    one.add_argument("--no-cache", action="store_true", help="neither use nor keep earlier results")
    one.add_argument("--no-reassociate", action="store_true", help="keep the order of float operations")
    one.add_argument("--no-isolate", action="store_true", help="measure in this process, which a candidate may crash")
    one.add_argument(
        "--deadline", type=float, default=DEADLINE, metavar="SECONDS", help="a candidate that takes longer has hung"
    )
    one.add_argument("--rules", type=Path, action="append", default=[], metavar="FILE", help="laws of your own")
    one.add_argument("--without", action="append", default=[], metavar="LAW", help="a law to leave out, or `schedules`")
    _wishes(one)
    one.add_argument("--fast-math", action="store_true", help="allow less exact functions")
    one.add_argument("--export", type=Path, metavar="FOLDER", help="also write it as a program without egglift")
    one.add_argument("--report", type=Path, metavar="FILE", help="also write a page about it, as HTML")
    one.add_argument("--language", choices=LANGUAGES, default="c99", help="of the exported program (default: c99)")
    one.add_argument("--allow-tf32", action="store_true", help="allow matrix units, which round factors, for f32")
    by_hand = _command(commands, "session", session_lines.run, "derive a kernel by hand, law by law")
    session_lines.add(by_hand, _size)
    there = _command(commands, "offload", _offload, "write what takes the place of a C function or nest")
    there.add_argument("source", metavar="FILE.c[:NAME]", help="a file of C, and one of several functions in it")
    there.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where the C files are written")
    there.add_argument("--size", type=_size, action="append", default=[], metavar="NAME=N", help="a length: n=4096")
    _choices(there)
    many = _command(commands, "batch", _batch, "optimise many programs; an interrupted batch can be resumed")
    many.add_argument("files", nargs="+", metavar="PROGRAM", help="as for optimize")
    _choices(many)
    many.add_argument("--out", type=Path, required=True, help="file to which results are appended (JSON lines)")
    many.add_argument("--jobs", type=_positive, help="worker processes (default: one for each core)")
    many.add_argument(
        "--cluster", metavar="ADDRESS", help='search on a dask cluster: its scheduler\'s address, or "local"'
    )
    rates = _command(commands, "calibrate", _calibrate, "measure a device's rates for the cost model")
    _device(rates)
    rates.add_argument("--fresh", action="store_true", help="measure all anew, whatever an interrupted run has left")
    rates.add_argument("--devices", action="store_true", help="measure the links of all devices instead")
    archive.add(_command(commands, "records", archive.run, "merge, prune, export or replay what was found"))
    lawbook.add(
        _command(commands, "laws", lawbook.run, "print the rule book, or one law with its conditions and source")
    )
    laws = "test laws, the book's or your own, on random instances of their own text"
    rulecheck.add(_command(commands, "check-rules", rulecheck.run, laws))
    return top


def _command(commands: Any, name: str, run: Any, text: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(name, help=text, description=f"{text}.", epilog=PROGRAM)
    made.set_defaults(run=run)
    made.add_argument("--json", action="store_true", help="print JSON instead of text")
    return made


def _device(command: argparse.ArgumentParser) -> None:
    command.add_argument("--device", help="a part of a device's name (default: EGGLIFT_DEVICE, the first GPU, PoCL)")


def _choices(command: argparse.ArgumentParser) -> None:
    _device(command)
    command.add_argument(
        "--measure",
        choices=("sample", "none"),
        default="sample",
        help="time the best few, or trust the model",
    )
    command.add_argument("--budget", type=float, metavar="SECONDS", help="time for a program (batch: its measuring)")
    command.add_argument(
        "--measurements", type=_positive, default=SAMPLE, metavar="N", help=f"candidates to measure (default: {SAMPLE})"
    )


def _wishes(command: argparse.ArgumentParser) -> None:
    """What the kernel must be like."""
    command.add_argument("--require", action="append", default=[], metavar="LAW", help="a law that it must need")
    tile = "how long a tile is: m0=64"
    command.add_argument("--tile", type=_size, action="append", default=[], metavar="NAME=N", help=tile)
    command.add_argument("--group-size", type=_numbers, metavar="N[,N]", help="work-items of a group, by dimension")
    command.add_argument("--parallel", type=int, choices=(1, 2, 3), help="dimensions of the grid")
    command.add_argument("--candidates", type=_positive, metavar="N", help="look at the best N by the model only")


def _numbers(text: str) -> int | tuple[int, ...]:
    return _size(f"group_size={text}")[1]


def _silent(line: str) -> None:
    """Says nothing: standard output is for the JSON."""


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return number


def _size(text: str) -> tuple[str, int | tuple[int, ...]]:
    name, _, numbers = text.partition("=")
    try:
        lengths = tuple(int(n) for n in numbers.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not NAME=NUMBER, as in n=4096") from None
    return name, lengths[0] if len(lengths) == 1 else lengths


# ---------------------------------------------------------------------------------------- commands


def _devices(arguments: argparse.Namespace) -> int:
    all_devices = devices()
    print(json.dumps([device_json(d) for d in all_devices], indent=2) if arguments.json else device_lines(all_devices))
    return 0


def _optimize(arguments: argparse.Namespace) -> int:
    program = load_program(arguments.program, dict(arguments.size))
    kernel = optimize(
        program,
        arguments.device,
        measure=arguments.measure,
        budget=arguments.budget,
        reassociate=not arguments.no_reassociate,
        fast_math=arguments.fast_math,
        allow_tf32=arguments.allow_tf32,
        rules=[_text(path) for path in arguments.rules],
        without=arguments.without,
        require=arguments.require,
        sizes=dict(arguments.tile),
        group_size=arguments.group_size,
        parallel=arguments.parallel,
        candidates=arguments.candidates,
        cache=not arguments.no_cache,
        measurements=arguments.measurements,
        isolate=not arguments.no_isolate,
        deadline=arguments.deadline,
    )
    problem = check(kernel)
    if arguments.export and not problem:
        kernel.export(arguments.export, arguments.language)
    if arguments.report:
        kernel.report(arguments.report)
    if arguments.json:
        result = result_json(dumps(program), kernel.device, kernel.chosen, kernel.candidates, problem)
        if arguments.explain:
            result["explanation"] = kernel.explain()
        print(json.dumps(result, indent=2))
    else:
        _show(kernel, problem, arguments.explain)
    return 1 if problem else 0


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise RuleError(f"{path} cannot be read: {error}") from error


def _show(kernel: Kernel, problem: str | None, explain: bool) -> None:
    print(f"// {kernel.device.info}")
    print(kernel.source)
    print("Term:", pretty(kernel.term), sep="\n")
    print("\nCandidates (* is the chosen one):")
    print(candidate_table(kernel.candidates, kernel.chosen))
    if explain:
        print("\nWhy:", kernel.explain(), sep="\n")
    verdict = "FAILED: " + problem if problem else "agrees with NumPy on a random sample"
    print(f"\nCheck: {verdict}")


def check(kernel: Kernel) -> str | None:
    """Runs a kernel on a random sample: None where it agrees with the NumPy meaning, else how not."""
    kernel = kernel.liked if isinstance(kernel, LengthKernel) else kernel
    program = paired(kernel.program)
    expected = expect(program, seed=1)
    arguments = operands(kernel.device, inputs_of(program), expected.inputs)
    return expected.disagreement(kernel.executable.run(arguments, poison=True, rows=expected.rows))


def _offload(arguments: argparse.Namespace) -> int:
    file, _, name = arguments.source.partition(".c:")
    path = f"{file}.c" if name else file
    options = {"measure": arguments.measure, "budget": arguments.budget, "measurements": arguments.measurements}
    done = offload(path, arguments.out, name or None, dict(arguments.size), arguments.device, **options)
    problem = check(done.kernel)
    files = [str(f) for f in done.files]
    print(json.dumps({"place": done.place, "call": done.call, "files": files}) if arguments.json else done)
    if problem:
        print(f"Check: FAILED: {problem}", file=sys.stderr)
    return 1 if problem else 0


def _batch(arguments: argparse.Namespace) -> int:
    summary = run_batch(
        arguments.files,
        arguments.device,
        arguments.out,
        measure=arguments.measure,
        budget=arguments.budget,
        measurements=arguments.measurements,
        jobs=arguments.jobs,
        cluster=arguments.cluster,
    )
    if arguments.json:
        print(json.dumps(asdict(summary)))
    else:
        counts = f"{summary.done} done, {summary.failed} failed, {summary.skipped} skipped"
        print(f"{counts} in {summary.seconds:.1f} s; results in {arguments.out}")
    return 1 if summary.failed else 0


def _calibrate(arguments: argparse.Namespace) -> int:
    if arguments.devices:
        return _links(_silent if arguments.json else print, arguments.json)
    device = open_device(arguments.device)
    profile = calibrate(device, fresh=arguments.fresh, report=_silent if arguments.json else print)
    if arguments.json:
        print(profile.dumps())
    else:
        print(f"kept in {profile_path(device) or 'nothing: the cache is off'}")
    return 0


def _links(report: Callable[[str], None], as_json: bool) -> int:
    """Measures and keeps the links of all devices."""
    opened = open_devices("all")
    links = measure_links(opened, report)
    path = save_links(opened, links)
    print(links.dumps() if as_json else f"kept in {path or 'nothing: the cache is off'}")
    return 0

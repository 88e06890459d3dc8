#!/usr/bin/env python3
"""Volvelle beside PyTorch and ONNX Runtime, in one run on this machine.

    benchmarks/compare.py                       every case on one thread (half an hour)
    benchmarks/compare.py --threads 2 --json    for a program to read
    benchmarks/compare.py decode matmul         only these operations (or --op decode --op matmul)
    benchmarks/compare.py --case 512 --case window   only cases whose name holds one of these
    benchmarks/compare.py --list                the cases

For each case the results are compared first: random inputs go to `volvelle attend` through an .npz
file, and what it answers is held against both rivals' (exit code 3 if one is off). Products, which
no verb of the program computes, are held against sums in double on both sides; of training steps
the first losses are compared. Then they are
timed in turns: `volvelle bench` (a process of its own, which checks itself against the oracle),
PyTorch, ONNX Runtime, again ours, and so on. A turn is the median of repeated calls; a ratio is the
median over the turns of their time / our time, so a change of clock hits both sides. Threads are
set equal. What each rival calls is said in comparison/, an operation a file. The rivals keep their
freed memory (glibc settings), which is kinder to them than the default.

The first run makes a virtual environment (--environment, ~/.cache/volvelle-compare) and installs
the rivals there. Where that would fetch PyTorch's large CUDA build, point --pip-option=--index-url=...
at an index of CPU builds once, or install torch there yourself.
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import venv

from comparison import (attention, attention_backward, decode, matmul, positions, study,
                        training)
from comparison.programs import FlexAttention, OnnxRuntime, Torch, Volvelle
from comparison.timing import seconds_per_call

PACKAGES = ["torch==2.13.0", "onnxruntime==1.32.0", "onnx==1.23.2", "numpy==2.4.6"]
ROOT = pathlib.Path(__file__).resolve().parent.parent
INSIDE = "VOLVELLE_COMPARE_INSIDE"
TITLES = {"onnxruntime": "ORT"}  # of columns

OPERATIONS = {operation.OP: operation
              for operation in (attention, attention_backward, decode, matmul, positions, study,
                                  training)}


def all_cases():
    return [dict(op=name, **case) for name, operation in OPERATIONS.items()
            for case in operation.cases()]


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="for all three (1)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="turns of each (3)")
    parser.add_argument("--seconds", type=float, default=0.3, metavar="X",
                        help="spent on one turn of one program, about (0.3)")
    parser.add_argument("operations", nargs="*", metavar="OPERATION",
                        help="only cases of these: " + ", ".join(OPERATIONS))
    parser.add_argument("--op", action="append", choices=list(OPERATIONS),
                        help="the same; may be repeated")
    parser.add_argument("--case", action="append", metavar="TEXT",
                        help="only cases whose name holds TEXT; may be repeated")
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    parser.add_argument("--program", metavar="FILE", default=str(ROOT / "build/bin/volvelle"),
                        help="the volvelle program (build/bin/volvelle)")
    parser.add_argument("--environment", metavar="DIR",
                        default=str(pathlib.Path.home() / ".cache/volvelle-compare"),
                        help="virtual environment of the rivals")
    parser.add_argument("--pip-option", action="append", default=[], metavar="OPTION",
                        help="passed to pip when the environment is made")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    options = parser.parse_args()
    for name in options.operations:
        if name not in OPERATIONS:
            parser.error(f"no operation is called '{name}' (there are: {', '.join(OPERATIONS)})")
    options.op = (options.op or []) + options.operations
    if options.threads < 1 or options.rounds < 1 or not options.seconds > 0:
        parser.error("--threads and --rounds are at least 1, --seconds above 0")
    return options


def note(text):
    print(text, file=sys.stderr, flush=True)


def enter_environment(options):
    """Makes the virtual environment when it is not complete, and goes on in its Python."""
    folder = pathlib.Path(options.environment)
    python = folder / "bin/python"
    complete = folder / "complete"
    if not complete.exists():
        if folder.exists() and any(folder.iterdir()) and not (folder / "pyvenv.cfg").exists():
            sys.exit(f"error: {folder} holds something else; --environment wants a folder of its own")
        note(f"making {folder} with {', '.join(PACKAGES)}")
        venv.create(folder, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "-qq", *options.pip_option, *PACKAGES]
        if subprocess.run(command, stdout=sys.stderr).returncode != 0:
            sys.exit(f"error: pip could not install the rivals into {folder}")
        complete.touch()
    environment = dict(os.environ)
    environment[INSIDE] = "1"
    # Large results would otherwise go back to the system, and be faulted in again, at each call.
    environment["MALLOC_MMAP_THRESHOLD_"] = str(32 << 20)
    environment["MALLOC_TRIM_THRESHOLD_"] = str(4 << 30)
    environment["MALLOC_TOP_PAD_"] = str(64 << 20)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        environment[name] = str(options.threads)
    os.execve(python, [str(python), *sys.argv], environment)


def measure(case, ours, rivals, options):
    import numpy
    operation = OPERATIONS[case["op"]]
    arrays = operation.inputs(case, numpy.random.default_rng(0))
    wanted = operation.ours(ours, case, arrays)
    row = dict(case, threads=options.threads, differences={}, milliseconds={}, ratios={})
    calls, peaks = {}, {}
    for rival in rivals:
        call = rival.call(operation, case, arrays)
        if call is None:
            continue
        found = call.run()
        row["differences"][rival.name] = max(
            float(numpy.abs(found[name] - wanted[name]).max()) for name in wanted)
        calls[rival.name] = call.timed
        if hasattr(call, "peak_bytes"):
            peaks[rival.name] = call.peak_bytes
    times = {name: [] for name in ["volvelle", *calls]}
    benches = []
    for _ in range(options.rounds):
        bench, row["machine"] = (
            operation.bench(ours, case) if hasattr(operation, "bench")
            else ours.bench(operation.SUBJECT, operation.bench_options(case)))
        times["volvelle"].append(bench["milliseconds"] * 1e-3)
        benches.append(bench)
        for name, call in calls.items():
            times[name].append(seconds_per_call(call, options.seconds))
    for share in ("share_of_peak", "share_of_bandwidth", "gigabytes_per_second"):
        if share in benches[0]:
            row[share] = statistics.median(bench[share] for bench in benches)
    for name, taken in times.items():
        row["milliseconds"][name] = statistics.median(taken) * 1e3
        if name != "volvelle":
            row["ratios"][name] = statistics.median(
                theirs / own for theirs, own in zip(taken, times["volvelle"]))
    if "peak_bytes" in benches[0]:
        row["peak_bytes"] = {"volvelle": max(bench["peak_bytes"] for bench in benches)}
        row["peak_bytes"].update((name, call()) for name, call in peaks.items())
    row["agrees"] = all(difference <= operation.tolerance(case)
                        for difference in row["differences"].values())
    return row


def duration(milliseconds):
    for unit, factor in (("us", 1e3), ("ms", 1)):
        if milliseconds * factor < 1000:
            return f"{milliseconds * factor:.3g} {unit}"
    return f"{milliseconds / 1000:.3g} s"


def share_text(row):
    """Of the read bandwidth where the data comes from memory, else of the multiply-add peak."""
    if "share_of_bandwidth" in row:
        return f"{row['share_of_bandwidth'] * 100:.0f}% read"
    return f"{row['share_of_peak'] * 100:.0f}% peak" if "share_of_peak" in row else "-"


def print_table(document):
    machine, versions = document["machine"], document["versions"]
    print(f"{machine['cpu']}, {document['threads']} thread(s), {machine['simd']}, multiply-add "
          f"peak {machine['peak_gflops_float32']:.0f} GFLOP/s (bfloat16 "
          f"{machine['peak_gflops_bfloat16']:.0f}), memory read {machine['read_gbs']:.1f} GB/s")
    print(f"torch {versions['torch']}, onnxruntime {versions['onnxruntime']}; "
          "ratio: their time / ours\n")
    names = [name for name in versions
             if name == "torch" or any(name in row["ratios"] for row in document["rows"])]
    print(f"  {'case':<36}{'ours':>9}{'share of':>11}"
          + "".join(f"{TITLES.get(name, name):>9}{'ratio':>8}" for name in names))
    for row in document["rows"]:
        line = f"  {row['name']:<36}{duration(row['milliseconds']['volvelle']):>9}"
        line += f"{share_text(row):>11}"
        for name in names:
            if name in row["ratios"]:
                line += f"{duration(row['milliseconds'][name]):>9}{row['ratios'][name]:>7.2f}x"
            else:
                line += f"{'-':>9}{'':>8}"
        for name, peak in row.get("peak_bytes", {}).items():
            line += f"  {name} {peak / 1e6:.0f} MB"
        print(line.rstrip() + ("" if row["agrees"] else "  RESULTS DIFFER"))


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    options = parse_arguments()
    cases = [case for case in all_cases()
             if (not options.op or case["op"] in options.op)
             and (not options.case or any(text in case["name"] for text in options.case))]
    if options.list:
        print("\n".join(f"{case['op']:<20}{case['name']}" for case in cases))
        return 0
    if not cases:
        sys.exit("error: no case fits --op and --case; --list shows them")
    if os.environ.get(INSIDE) != "1":
        enter_environment(options)
    ours = Volvelle(options)
    rivals = [Torch(options.threads), FlexAttention(options.threads),
              OnnxRuntime(options.threads)]
    document = {"threads": options.threads, "rounds": options.rounds,
                "versions": {rival.name: rival.version for rival in rivals},
                "machine": None, "rows": []}
    try:
        for number, case in enumerate(cases, 1):
            note(f"[{number}/{len(cases)}] {case['name']}")
            row = measure(case, ours, rivals, options)
            document["machine"] = row.pop("machine")
            document["rows"].append(row)
    except KeyboardInterrupt:
        note("interrupted: what was measured follows")
    if document["rows"]:
        if options.json:
            json.dump(document, sys.stdout, indent=2)
            print()
        else:
            print_table(document)
    if len(document["rows"]) < len(cases):
        return 130
    return 0 if all(row["agrees"] for row in document["rows"]) else 3


if __name__ == "__main__":
    sys.exit(main())

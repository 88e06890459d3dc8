#!/usr/bin/env python3
"""Volvelle's attention beside PyTorch's and ONNX Runtime's, in one run on this machine.

    benchmarks/compare.py                       every case on one thread (some minutes)
    benchmarks/compare.py --threads 2 --json    for a program to read
    benchmarks/compare.py --case 512 --case window   only cases whose name holds one of these
    benchmarks/compare.py --list                the cases

For each case the results are compared first: random q, k, v go to `volvelle attend` through an
.npz file, and its output is held against both rivals' (exit code 3 if one is off). Then they are
timed in turns: `volvelle bench attention` (a process of its own, which checks itself against the
oracle), PyTorch's scaled_dot_product_attention, ONNX Runtime's MultiHeadAttention (com.microsoft),
again ours, and so on. A turn is the median of repeated calls; a ratio is the median over the turns
of their time / our time, so a change of clock hits both sides. Threads are set equal. PyTorch takes
a window as a boolean mask, as its users must. The rivals keep their freed memory (glibc settings), which
is kinder to them than the default.

The first run makes a virtual environment (--environment, ~/.cache/volvelle-compare) and installs
the rivals there. Where that would fetch PyTorch's large CUDA build, point --pip-option=--index-url=...
at an index of CPU builds once, or install torch there yourself.
"""

import argparse
import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import venv

PACKAGES = ["torch==2.13.0", "onnxruntime==1.32.0", "onnx==1.23.2", "numpy==2.4.6"]
ROOT = pathlib.Path(__file__).resolve().parent.parent
INSIDE = "VOLVELLE_COMPARE_INSIDE"
# Largest difference from a rival's result that rounding explains, for inputs of unit variance.
TOLERANCE = {"float32": 2e-5, "float64": 1e-12, "bfloat16": 5e-2, "float16": 1e-2}


def case(name, queries, width=64, causal=False, window=0, dtype="float32", batch=1, heads=8):
    return {"name": name, "dtype": dtype, "batch": batch, "heads": heads, "queries": queries,
            "head_width": width, "causal": causal, "window": window}


def all_cases():
    cases = []
    for width in (64, 128):
        for length in (128, 512, 1024, 2048, 4096):
            for causal in (False, True):
                kind = "causal" if causal else "full"
                cases.append(case(f"T{length} D{width} {kind}", length, width, causal))
    cases.append(case("T4096 D64 window 256", 4096, causal=True, window=256))
    for dtype in ("float64", "bfloat16", "float16"):
        for causal in (False, True):
            kind = "causal" if causal else "full"
            cases.append(case(f"T1024 D64 {dtype} {kind}", 1024, causal=causal, dtype=dtype))
    cases.append(case("small: 1 head T2 D2", 2, 2, heads=1))
    cases.append(case("small: B8 H4 T16 D16 causal", 16, 16, True, batch=8, heads=4))
    return cases


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="for all three (1)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="turns of each (3)")
    parser.add_argument("--seconds", type=float, default=0.3, metavar="X",
                        help="spent on one turn of one program, about (0.3)")
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


def seconds_per_call(call, seconds):
    """Median over repetitions of at least 200 us, after warming up."""
    def repetition(count):
        start = time.perf_counter()
        for _ in range(count):
            call()
        return time.perf_counter() - start

    count = 1
    taken = repetition(1)
    while taken < 200e-6:
        count = max(count + 1, min(2 * count, math.ceil(200e-6 / max(taken, 1e-9) * count)))
        taken = repetition(count)
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 2000):
        times.append(repetition(count) / count)
    return statistics.median(times)


class Volvelle:
    def __init__(self, options):
        self.program = options.program
        self.threads = options.threads
        self.seconds = options.seconds
        if not os.access(self.program, os.X_OK):
            sys.exit(f"error: no program at {self.program}; `./run --version` builds it")

    def run(self, arguments):
        done = subprocess.run([self.program, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"error: volvelle {' '.join(arguments)}\n{done.stderr}")
        return done.stdout

    def result(self, shape, arrays):
        import numpy
        with tempfile.TemporaryDirectory() as folder:
            given, answer = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
            numpy.savez(given, **arrays)
            options = ["attend", given, "--out", answer, "--threads", str(self.threads),
                       "--dtype", shape["dtype"], "--json"]
            options += ["--causal"] if shape["causal"] else []
            options += ["--window", str(shape["window"])] if shape["window"] else []
            self.run(options)
            with numpy.load(answer) as found:
                return found["output"].astype(numpy.float64)

    def time(self, shape):
        """(seconds of a call, the row of the benchmark, its machine)"""
        options = ["bench", "attention", "--json", "--threads", str(self.threads),
                   "--seconds", str(self.seconds)]
        for name in ("dtype", "batch", "heads", "queries", "head_width", "window"):
            if shape[name]:
                options += ["--" + name.replace("_", "-"), str(shape[name])]
        options += ["--causal"] if shape["causal"] else []
        document = json.loads(self.run(options))
        row = document["rows"][0]
        return row["milliseconds"] * 1e-3, row, document["machine"]


class Torch:
    name = "torch"

    def __init__(self, threads):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        self.version = torch.__version__

    def call(self, shape, arrays):
        """A function of nothing that returns the output."""
        torch = self.torch
        dtype = getattr(torch, shape["dtype"])
        q, k, v = (torch.from_numpy(arrays[name]).to(dtype) for name in "qkv")
        attention = torch.nn.functional.scaled_dot_product_attention
        if shape["window"]:
            length = shape["queries"]
            keep = torch.ones(length, length, dtype=torch.bool).tril()
            keep &= keep.new_ones(length, length).triu(1 - shape["window"])
            arguments = {"attn_mask": keep}
        else:
            arguments = {"is_causal": shape["causal"]}

        def run():
            with torch.inference_mode():
                return attention(q, k, v, **arguments)
        return run

    def array(self, output):
        return output.to(self.torch.float64).numpy()


class OnnxRuntime:
    """MultiHeadAttention on (B,T,H*D), the layout it is made for."""
    name = "onnxruntime"

    def __init__(self, threads):
        import onnxruntime
        self.runtime = onnxruntime
        self.threads = threads
        self.version = onnxruntime.__version__

    def call(self, shape, arrays):
        if shape["dtype"] != "float32" or shape["window"]:
            return None
        import numpy
        from onnx import TensorProto, helper
        batch, heads, length, width = arrays["q"].shape
        size = (batch, length, heads * width)
        names = ["query", "key", "value"]
        node = helper.make_node("MultiHeadAttention", names, ["output"], domain="com.microsoft",
                                num_heads=heads, unidirectional=int(shape["causal"]))
        graph = helper.make_graph(
            [node], "attention",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name in names],
            [helper.make_tensor_value_info("output", TensorProto.FLOAT, size)])
        model = helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
        settings = self.runtime.SessionOptions()
        settings.intra_op_num_threads = self.threads
        settings.inter_op_num_threads = 1
        session = self.runtime.InferenceSession(model.SerializeToString(), settings,
                                                providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, array in zip(names, "qkv"):
            merged = numpy.ascontiguousarray(arrays[array].transpose(0, 2, 1, 3).reshape(size))
            binding.bind_ortvalue_input(name, self.runtime.OrtValue.ortvalue_from_numpy(merged))
        output = self.runtime.OrtValue.ortvalue_from_numpy(numpy.zeros(size, numpy.float32))
        binding.bind_ortvalue_output("output", output)

        def run():
            session.run_with_iobinding(binding)
            return output.numpy().reshape(batch, length, heads, width).transpose(0, 2, 1, 3)

        def timed():
            session.run_with_iobinding(binding)
        run.timed = timed
        return run

    def array(self, output):
        return output.astype("float64")


def measure(shape, ours, rivals, options):
    import numpy
    random = numpy.random.default_rng(0)
    size = (shape["batch"], shape["heads"], shape["queries"], shape["head_width"])
    kind = numpy.float64 if shape["dtype"] == "float64" else numpy.float32
    arrays = {name: random.standard_normal(size).astype(kind) for name in "qkv"}
    wanted = ours.result(shape, arrays)
    row = dict(shape, threads=options.threads, differences={}, milliseconds={}, ratios={})
    calls = {}
    for rival in rivals:
        call = rival.call(shape, arrays)
        if call is None:
            continue
        difference = float(numpy.abs(rival.array(call()) - wanted).max())
        row["differences"][rival.name] = difference
        calls[rival.name] = getattr(call, "timed", call)
    times = {name: [] for name in ["volvelle", *calls]}
    shares = []
    for _ in range(options.rounds):
        seconds, bench, row["machine"] = ours.time(shape)
        times["volvelle"].append(seconds)
        shares.append(bench["share_of_peak"])
        for name, call in calls.items():
            times[name].append(seconds_per_call(call, options.seconds))
    row["share_of_peak"] = statistics.median(shares)
    for name, taken in times.items():
        row["milliseconds"][name] = statistics.median(taken) * 1e3
        if name != "volvelle":
            row["ratios"][name] = statistics.median(
                theirs / own for theirs, own in zip(taken, times["volvelle"]))
    row["agrees"] = all(difference <= TOLERANCE[shape["dtype"]]
                        for difference in row["differences"].values())
    return row


def duration(milliseconds):
    for unit, factor in (("us", 1e3), ("ms", 1)):
        if milliseconds * factor < 1000:
            return f"{milliseconds * factor:.3g} {unit}"
    return f"{milliseconds / 1000:.3g} s"


def print_table(document):
    machine, versions = document["machine"], document["versions"]
    print(f"{machine['cpu']}, {document['threads']} thread(s), {machine['simd']}, multiply-add "
          f"peak {machine['peak_gflops_float32']:.0f} GFLOP/s")
    print(f"torch {versions['torch']}, onnxruntime {versions['onnxruntime']}; "
          "ratio: their time / ours\n")
    print(f"  {'case':<28}{'ours':>9}{'of peak':>9}{'torch':>9}{'ratio':>8}{'ORT':>9}{'ratio':>8}")
    for row in document["rows"]:
        line = f"  {row['name']:<28}{duration(row['milliseconds']['volvelle']):>9}"
        line += f"{row['share_of_peak'] * 100:>8.0f}%"
        for name in ("torch", "onnxruntime"):
            if name in row["ratios"]:
                line += f"{duration(row['milliseconds'][name]):>9}{row['ratios'][name]:>7.2f}x"
            else:
                line += f"{'-':>9}{'':>8}"
        print(line.rstrip() + ("" if row["agrees"] else "  RESULTS DIFFER"))


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    options = parse_arguments()
    cases = [shape for shape in all_cases()
             if not options.case or any(text in shape["name"] for text in options.case)]
    if options.list:
        print("\n".join(shape["name"] for shape in cases))
        return 0
    if not cases:
        sys.exit("error: no case has such a name; --list shows them")
    if os.environ.get(INSIDE) != "1":
        enter_environment(options)
    ours = Volvelle(options)
    rivals = [Torch(options.threads), OnnxRuntime(options.threads)]
    document = {"threads": options.threads, "rounds": options.rounds,
                "versions": {rival.name: rival.version for rival in rivals},
                "machine": None, "rows": []}
    try:
        for number, shape in enumerate(cases, 1):
            note(f"[{number}/{len(cases)}] {shape['name']}")
            row = measure(shape, ours, rivals, options)
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

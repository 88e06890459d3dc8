"""Every case of benchmarks/compare.py has a name of its own, a tolerance, and options that
`volvelle bench` takes (or `volvelle study`). Needs neither NumPy nor the rivals."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))

from compare import OPERATIONS, all_cases  # noqa: E402


def refusal(program, subject, options, verb="bench"):
    """What the program says to these options and one more, which it refuses once it has read them:
    nothing is measured."""
    done = subprocess.run([program, verb, subject, *options, "--threads", "0"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


def main():
    program = sys.argv[1]
    expected = "--threads takes 1 to 1024"
    faults, names = [], set()
    for case in all_cases():
        operation = OPERATIONS[case["op"]]
        code, text = refusal(program, operation.SUBJECT, operation.bench_options(case),
                             getattr(operation, "VERB", "bench"))
        if code != 2 or expected not in text:
            faults.append(f"{case['name']}: exit {code}: {text}")
        if not operation.tolerance(case) > 0:
            faults.append(f"{case['name']}: no tolerance")
        if case["name"] in names:
            faults.append(f"{case['name']}: named twice")
        names.add(case["name"])
    # The control: an option that no benchmark has must be what is refused.
    if expected in refusal(program, "attention", ["--colour", "red"])[1]:
        faults.append("an unknown option is not told from a known one")
    print("\n".join(faults) or f"{len(names)} cases")
    return 1 if faults or not names else 0


if __name__ == "__main__":
    sys.exit(main())

"""Writes tests/golden/operators/simple.npz: what PyTorch makes of the simple operators, forward and
backward, in float32. Dropout is not among them: its stream is our own.

    python3 -m venv ENV && ENV/bin/pip install numpy torch==2.13.0
    ENV/bin/python tests/golden/make_simple_operators.py

    x, other (3,5,7), table (5,7), g (3,5,7)   inputs, and the gradient of results of that shape
    NAME.y, NAME.x, NAME.other, NAME.table     result and gradients
"""

import pathlib

import numpy as np
import torch

FOLDER = pathlib.Path(__file__).parent / "operators"
FACTOR = 0.3
LENGTHS = (2, 2, 3)

CASES = {
    "add": lambda v: v["x"] + v["other"],
    "add_table": lambda v: v["x"] + v["table"],
    "scale": lambda v: FACTOR * v["x"],
    "reshape": lambda v: v["x"].reshape(15, 7).reshape(3, 5, 7),
    # the parts change places, so that each has another share of g
    "split": lambda v: torch.cat(torch.split(v["x"], LENGTHS, -1)[::-1], -1),
    "sum": lambda v: v["x"].sum(),
    "mean": lambda v: v["x"].mean(),
    "mean_square": lambda v: v["x"].square().mean(),
    "dot": lambda v: (v["x"] * v["other"]).sum(),
}


def main():
    random = np.random.default_rng(6)
    arrays = {name: random.standard_normal(shape).astype(np.float32)
              for name, shape in {"x": (3, 5, 7), "other": (3, 5, 7), "table": (5, 7), "g": (3, 5, 7)}.items()}
    for name, function in CASES.items():
        variables = {k: torch.tensor(arrays[k], requires_grad=True) for k in ("x", "other", "table")}
        y = function(variables)
        y.backward(torch.tensor(arrays["g"]) if y.shape else None)
        arrays[f"{name}.y"] = y.detach().numpy()
        for k, variable in variables.items():
            if variable.grad is not None:
                arrays[f"{name}.{k}"] = variable.grad.numpy()
    arrays["norm.y"] = torch.linalg.vector_norm(torch.tensor(arrays["x"], dtype=torch.float64)).numpy()
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(FOLDER / "simple.npz", **arrays)
    print(f"{len(arrays)} arrays, torch {torch.__version__}")


if __name__ == "__main__":
    main()

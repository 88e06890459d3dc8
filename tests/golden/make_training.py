"""Writes tests/golden/training/runs.npz: 50 steps of a small network by PyTorch, in float64.

    python3 -m venv ENV && ENV/bin/pip install numpy torch==2.13.0
    ENV/bin/python tests/golden/make_training.py

Network: logits = W2 relu(W1 x + b1) + b2, mean cross-entropy, another batch each step (x[step],
labels[step]), clip_grad_norm_, a rate that warms up over 5 steps and comes down by a cosine. Runs:
adamw, adamw_matrices (only matrices decay), sgd, momentum, nesterov. Of each: losses, norms (before
clipping), w1, b1, w2, b2 behind the last step.
"""

import math
import pathlib

import numpy as np
import torch

FILE = pathlib.Path(__file__).parent / "training" / "runs.npz"
STEPS, BATCH, INPUTS, HIDDEN, CLASSES = 50, 6, 5, 7, 3
WARM_UP, CLIP = 5, 0.4
ADAMW = dict(betas=(0.85, 0.97), eps=1e-6)
RUNS = {"adamw": (torch.optim.AdamW, 2e-2, dict(ADAMW, weight_decay=0.1)),
        "adamw_matrices": (torch.optim.AdamW, 2e-2, dict(ADAMW, weight_decay=0.1)),
        "sgd": (torch.optim.SGD, 0.5, dict(weight_decay=0.01)),
        "momentum": (torch.optim.SGD, 0.2, dict(momentum=0.9)),
        "nesterov": (torch.optim.SGD, 0.2, dict(momentum=0.8, nesterov=True, weight_decay=0.02))}


def rate(highest, step):
    """Steps are counted from 1."""
    if step <= WARM_UP:
        return highest * step / WARM_UP
    return highest * (1 + math.cos(math.pi * (step - WARM_UP) / (STEPS - WARM_UP))) / 2


def run(name, arrays):
    kind, highest, options = RUNS[name]
    weights = [torch.tensor(arrays[part], requires_grad=True) for part in ("w1", "b1", "w2", "b2")]
    groups = [{"params": weights}]
    if name == "adamw_matrices":
        groups = [{"params": weights[0::2]}, {"params": weights[1::2], "weight_decay": 0.0}]
    optimizer = kind(groups, lr=highest, **options)
    losses, norms = [], []
    for step in range(1, STEPS + 1):
        for group in optimizer.param_groups:
            group["lr"] = rate(highest, step)
        w1, b1, w2, b2 = weights
        x = torch.tensor(arrays["x"][step - 1])
        loss = torch.nn.functional.cross_entropy(
            torch.relu(x @ w1.T + b1) @ w2.T + b2, torch.tensor(arrays["labels"][step - 1]))
        optimizer.zero_grad()
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(weights, CLIP).item())
        optimizer.step()
        losses.append(loss.item())
    found = {"losses": losses, "norms": norms}
    found.update(zip(("w1", "b1", "w2", "b2"), (weight.detach().numpy() for weight in weights)))
    return {f"{name}.{key}": np.array(value) for key, value in found.items()}


def main():
    random = np.random.default_rng(5)
    arrays = {"x": random.standard_normal((STEPS, BATCH, INPUTS)),
              "labels": random.integers(0, CLASSES, (STEPS, BATCH)),
              "w1": random.standard_normal((HIDDEN, INPUTS)) / 2, "b1": random.standard_normal(HIDDEN) / 4,
              "w2": random.standard_normal((CLASSES, HIDDEN)) / 2, "b2": random.standard_normal(CLASSES) / 4}
    # float32 numbers, so that a run in float32 starts from the same ones.
    arrays = {name: array if array.dtype == np.int64 else array.astype(np.float32).astype(np.float64)
              for name, array in arrays.items()}
    found = dict(arrays)
    for name in RUNS:
        found.update(run(name, arrays))
    np.savez(FILE, **found)


if __name__ == "__main__":
    main()

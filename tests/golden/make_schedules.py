"""Writes tests/golden/training/schedules.npz: the rates of 50 steps by PyTorch's schedulers.

    python3 -m venv ENV && ENV/bin/pip install numpy torch==2.13.0
    ENV/bin/python tests/golden/make_schedules.py

A warm-up of W steps is LinearLR from 1 / W; the way down starts at the step that has the full rate.
PyTorch has no inverse square root: that one is its formula through LambdaLR.
"""

import pathlib
import warnings

import numpy as np
import torch
from torch.optim.lr_scheduler import (ConstantLR, CosineAnnealingLR, LambdaLR, LinearLR,
                                      SequentialLR)

FILE = pathlib.Path(__file__).parent / "training" / "schedules.npz"
STEPS, RATE, LOWEST, WARM_UP, DECAY = 50, 3e-3, 3e-5, 5, 12


def rates(make):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE)
    schedule = make(optimizer)
    found = []
    for _ in range(STEPS):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return np.array(found)


def warm(optimizer):
    return LinearLR(optimizer, start_factor=1 / WARM_UP, end_factor=1, total_iters=WARM_UP - 1)


def down(optimizer, steps):
    return LinearLR(optimizer, start_factor=1, end_factor=LOWEST / RATE, total_iters=steps)


def behind(*parts):
    """The warm-up, then parts of (steps after the top, how to make it)."""
    def make(optimizer):
        return SequentialLR(optimizer, [warm(optimizer)] + [part(optimizer) for _, part in parts],
                            milestones=[WARM_UP - 1 + after for after, _ in parts])
    return make


def main():
    warnings.simplefilter("ignore")
    rest = STEPS - WARM_UP
    arrays = {
        "constant": rates(lambda o: ConstantLR(o, factor=1)),
        "constant_warm": rates(warm),
        "linear": rates(lambda o: down(o, STEPS - 1)),
        "linear_warm": rates(behind((0, lambda o: down(o, rest)))),
        "cosine": rates(lambda o: CosineAnnealingLR(o, T_max=STEPS - 1, eta_min=LOWEST)),
        "cosine_warm": rates(behind((0, lambda o: CosineAnnealingLR(o, T_max=rest, eta_min=LOWEST)))),
        "inverse-square-root": rates(lambda o: LambdaLR(o, lambda t: (t + 1) ** -0.5)),
        "inverse-square-root_warm": rates(
            lambda o: LambdaLR(o, lambda t: min((t + 1) / WARM_UP, (WARM_UP / (t + 1)) ** 0.5))),
        "warm-up-stable-decay_warm": rates(behind(
            (0, lambda o: ConstantLR(o, factor=1)), (rest - DECAY, lambda o: down(o, DECAY)))),
    }
    FILE.parent.mkdir(exist_ok=True)
    np.savez(FILE, **arrays)


if __name__ == "__main__":
    main()

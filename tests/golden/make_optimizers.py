"""Writes tests/golden/optimizers/steps.npz: what torch.optim.AdamW and torch.optim.SGD make of 37
weights over 50 steps of given gradients.

    python3 -m venv ENV && ENV/bin/pip install numpy torch==2.13.0
    ENV/bin/python tests/golden/make_optimizers.py

    weight, gradients   (37,), (50,37) float32, read by every case
    NAME.numbers        adamw: rate, beta1, beta2, epsilon, decay, gradient scale;
                        sgd: rate, momentum, decay, nesterov, gradient scale
    NAME.DTYPE.weights  (3,37) after 1, 10 and 50 steps
    NAME.DTYPE.first, .second, .velocity   the state after 50, where there is one
"""

import pathlib

import numpy as np
import torch

FOLDER = pathlib.Path(__file__).parent / "optimizers"
KEPT = (1, 10, 50)
ADAMW = {
    "adamw_default": (1e-3, 0.9, 0.999, 1e-8, 0.01, 1.0),
    "adamw_strong": (0.02, 0.8, 0.95, 1e-6, 0.1, 0.25),
    "adamw_far_end": (5e-3, 0.3, 0.9, 1e-3, 0.0, 1.0),  # lerp goes from the gradient
}
SGD = {
    "sgd_plain": (0.05, 0.0, 0.0, False, 1.0),
    "sgd_momentum": (0.05, 0.9, 0.0, False, 1.0),
    "sgd_decay": (0.05, 0.9, 0.1, False, 0.5),
    "sgd_nesterov": (0.05, 0.9, 0.01, True, 1.0),
}


def run(optimizer_of, scale, weight, gradients, dtype):
    parameter = torch.nn.Parameter(torch.tensor(weight, dtype=dtype))
    optimizer = optimizer_of([parameter])
    kept = []
    for step, gradient in enumerate(gradients, 1):
        parameter.grad = torch.tensor(gradient, dtype=dtype).mul_(scale)
        optimizer.step()
        if step in KEPT:
            kept.append(parameter.detach().numpy().copy())
    return np.stack(kept), optimizer.state[parameter]


def main():
    random = np.random.default_rng(5)
    weight = random.standard_normal(37).astype(np.float32)
    gradients = (random.standard_normal((50, 37)) * np.exp(random.standard_normal(37))).astype(np.float32)
    gradients[:, 3] = 0  # never moved but by decay
    arrays = {"weight": weight, "gradients": gradients}
    for dtype in (torch.float32, torch.float64):
        of = "float32" if dtype == torch.float32 else "float64"
        for name, numbers in ADAMW.items():
            rate, beta1, beta2, epsilon, decay, scale = numbers
            weights, state = run(lambda p: torch.optim.AdamW(p, lr=rate, betas=(beta1, beta2), eps=epsilon,
                                                             weight_decay=decay, foreach=False),
                                 scale, weight, gradients, dtype)
            arrays[f"{name}.numbers"] = np.array(numbers, np.float64)
            arrays[f"{name}.{of}.weights"] = weights
            arrays[f"{name}.{of}.first"] = state["exp_avg"].numpy()
            arrays[f"{name}.{of}.second"] = state["exp_avg_sq"].numpy()
        for name, numbers in SGD.items():
            rate, momentum, decay, nesterov, scale = numbers
            weights, state = run(lambda p: torch.optim.SGD(p, lr=rate, momentum=momentum, weight_decay=decay,
                                                           nesterov=nesterov, foreach=False),
                                 scale, weight, gradients, dtype)
            arrays[f"{name}.numbers"] = np.array(numbers, np.float64)
            arrays[f"{name}.{of}.weights"] = weights
            if momentum:
                arrays[f"{name}.{of}.velocity"] = state["momentum_buffer"].numpy()
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(FOLDER / "steps.npz", **arrays)
    print(f"{len(arrays)} arrays, torch {torch.__version__}")


if __name__ == "__main__":
    main()

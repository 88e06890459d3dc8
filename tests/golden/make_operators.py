"""Writes tests/golden/operators/operators.npz: norms, activations, softmax and cross-entropy, with
all their options, and the gradients that PyTorch's autograd gives for them in float64.

    python3 -m venv ENV && ENV/bin/pip install numpy torch==2.13.0
    ENV/bin/python tests/golden/make_operators.py

All arrays are float64. Inputs are bfloat16 numbers, so that they serve in every dtype as they are.
`NAME.y` is a result and `NAME.grad_x`, ... the gradients of sum(grad_y * y) for the array `grad_y`
(of a loss: of the loss itself).
"""

import pathlib
import platform

import numpy as np
import torch
import torch.nn.functional as F

FOLDER = pathlib.Path(__file__).parent / "operators"
arrays = {}


def numbers(random, *shape, mean=0.0, spread=1.0):
    drawn = torch.tensor(mean + spread * random.standard_normal(shape))
    return drawn.to(torch.bfloat16).double().requires_grad_()


def keep(name, y, grad_y, **inputs):
    gradients = torch.autograd.grad(y, list(inputs.values()), grad_y)
    arrays[name + ".y"] = y
    for key, gradient in zip(inputs, gradients):
        arrays[f"{name}.grad_{key}"] = gradient


def norms(random):
    x, far = numbers(random, 3, 5, 20), numbers(random, 4, 20, mean=100)
    weight, bias = numbers(random, 20, mean=1), numbers(random, 20)
    grad_y = numbers(random, 3, 5, 20).detach()
    arrays.update(x=x, far=far, weight=weight, bias=bias, grad_y=grad_y)
    keep("layer", F.layer_norm(x, (20,), weight, bias), grad_y, x=x, weight=weight, bias=bias)
    keep("layer_plain", F.layer_norm(x, (20,), eps=0.1), grad_y, x=x)
    keep("layer_far", F.layer_norm(far, (20,)), grad_y[0, :4], x=far)
    keep("rms", F.rms_norm(x, (20,), weight, 1e-6), grad_y, x=x, weight=weight)
    keep("rms_plain", F.rms_norm(x, (20,), eps=0.1), grad_y, x=x)
    keep("rms_offset", F.rms_norm(x, (20,), 1 + weight, 1e-6), grad_y, x=x, weight=weight)
    keep("softmax", torch.softmax(x, -1), grad_y, x=x)
    up = numbers(random, 3, 5, 20)
    arrays["up"] = up
    for name, function in {"relu": F.relu, "gelu": F.gelu, "silu": F.silu,
                           "gelu_tanh": lambda v: F.gelu(v, approximate="tanh")}.items():
        keep(name, function(x), grad_y, x=x)
        keep(name + "_gated", function(x) * up, grad_y, x=x, up=up)


def losses(random):
    logits = numbers(random, 2, 6, 11, spread=3)
    labels = torch.tensor(random.integers(0, 11, (2, 6)))
    labels[0, 2] = labels[1, 5] = -100
    arrays.update(logits=logits, labels=labels.double())

    def loss(name, rows=logits.reshape(-1, 11), target=labels.reshape(-1), **options):
        keep(name, F.cross_entropy(rows, target, **options), None, logits=logits)

    loss("loss")
    loss("loss_smooth", label_smoothing=0.1)
    loss("loss_ignored_3", ignore_index=3, target=torch.where(labels < 0, 3, labels).reshape(-1))
    total = F.cross_entropy(logits.reshape(-1, 11), labels.reshape(-1), reduction="sum")
    keep("loss_count_32", total / 32, None, logits=logits)


def main():
    random = np.random.default_rng(20260729)
    norms(random)
    losses(random)
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(FOLDER / "operators.npz",
                        **{name: array.detach().numpy() for name, array in arrays.items()})
    (FOLDER / "versions.txt").write_text(
        f"torch {torch.__version__}\nnumpy {np.__version__}\npython {platform.python_version()}\n")


if __name__ == "__main__":
    main()

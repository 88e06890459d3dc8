"""Writes tests/golden/products/products.npz: what PyTorch gives for linear layers, gated products
and embeddings, forward and backward, in float64.

    python3 -m venv ENV && ENV/bin/pip install numpy torch==2.13.0
    ENV/bin/python tests/golden/make_products.py

Inputs are multiples of 1/64, so that they are float32 and float64 numbers alike. Arrays are named
CASE.NAME: `linear` holds the inputs that all linear cases share, `linear_gelu` and so on their
results; grad_x is the gradient of sum(grad_y * y) with respect to x.
"""

import pathlib

import numpy as np
import torch
import torch.nn.functional as F

FILE = pathlib.Path(__file__).parent / "products" / "products.npz"
ACTIVATIONS = {"none": lambda t: t, "relu": F.relu, "gelu": F.gelu,
               "gelu_tanh": lambda t: F.gelu(t, approximate="tanh"), "silu": F.silu}


def main():
    random = np.random.default_rng(5)
    arrays = {}

    def draw(*shape):
        return np.round(random.normal(size=shape) * 64) / 64

    def run(case, inputs, function, grad_y):
        leaves = {name: torch.tensor(value, requires_grad=True) for name, value in inputs.items()}
        y = function(**leaves)
        y.backward(torch.tensor(grad_y))
        arrays[f"{case}.y"] = y.detach().numpy()
        for name, leaf in leaves.items():
            arrays[f"{case}.grad_{name}"] = leaf.grad.numpy()

    def keep(case, inputs, grad_y):
        arrays.update({f"{case}.{name}": value for name, value in inputs.items()})
        arrays[f"{case}.grad_y"] = grad_y

    inputs = {"x": draw(2, 3, 7), "weight": draw(5, 7), "bias": draw(5), "residual": draw(2, 3, 5)}
    grad_y = draw(2, 3, 5)
    keep("linear", inputs, grad_y)
    for name, act in ACTIVATIONS.items():
        run(f"linear_{name}", inputs,
            lambda x, weight, bias, residual, act=act: act(F.linear(x, weight, bias)) + residual,
            grad_y)
    inputs = {"x": draw(4, 6), "gate": draw(9, 6), "up": draw(9, 6), "gate_bias": draw(9),
              "up_bias": draw(9)}
    grad_y = draw(4, 9)
    keep("gated", inputs, grad_y)
    for name, act in ACTIVATIONS.items():
        run(f"gated_{name}", inputs,
            lambda x, gate, up, gate_bias, up_bias, act=act:
            act(F.linear(x, gate, gate_bias)) * F.linear(x, up, up_bias), grad_y)
    inputs = {"table": draw(11, 3)}
    ids = random.integers(0, 6, size=(4, 5))
    grad_y = draw(4, 5, 3)
    keep("embedding", inputs, grad_y)
    arrays["embedding.ids"] = ids
    run("embedding", inputs, lambda table: F.embedding(torch.tensor(ids), table), grad_y)

    FILE.parent.mkdir(exist_ok=True)
    np.savez_compressed(FILE, **arrays)
    print(f"{FILE}: {len(arrays)} arrays, {FILE.stat().st_size} bytes, PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()

"""Writes tests/golden/causal_self_attention/: what the document's layer (causal attention with rotary
positions, width 32, 4 heads) gives in PyTorch after torch.manual_seed(0), in float32.

    python3 -m venv ENV && ENV/bin/pip install numpy torch==2.13.0
    ENV/bin/python tests/golden/make_causal_self_attention.py

Weights and x are not stored: both sides draw them (two Linear without bias, then randn(2,12,32)).

    output  (2,12,32)
    q, k    (1,4,12,8) of the first row, as they were turned
"""

import math
import pathlib
import platform

import numpy as np
import torch
from torch import nn

FOLDER = pathlib.Path(__file__).parent / "causal_self_attention"
BATCH, TOKENS, WIDTH, HEADS = 2, 12, 32, 4


def turned(x, cosines, sines):
    a, b = x.chunk(2, -1)
    return x * cosines + torch.cat([-b, a], -1) * sines


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    qkv, out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
    x = torch.randn(BATCH, TOKENS, WIDTH)
    head = WIDTH // HEADS
    with torch.no_grad():
        q, k, v = (t.view(BATCH, TOKENS, HEADS, head).transpose(1, 2) for t in qkv(x).chunk(3, -1))
        angles = torch.arange(TOKENS).float()[:, None] * 10000.0 ** (-torch.arange(0, head, 2).float() / head)
        angles = torch.cat([angles, angles], -1)
        q, k = turned(q, angles.cos(), angles.sin()), turned(k, angles.cos(), angles.sin())
        scores = q @ k.transpose(-2, -1) / math.sqrt(head)
        hidden = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
        read = scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v
        y = out(read.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH))
    FOLDER.mkdir(exist_ok=True)
    np.savez(FOLDER / "layer.npz", output=y.double().numpy(), q=q[:1].double().numpy(), k=k[:1].double().numpy())
    (FOLDER / "versions.txt").write_text(
        f"torch {torch.__version__}, numpy {np.__version__}, python {platform.python_version()}\n")


if __name__ == "__main__":
    main()

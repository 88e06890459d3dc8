#!/usr/bin/env python3
"""Writes tests/data/check: a small problem and what PyTorch 2.13 answers, right and wrong.

    python tests/golden/make_expected_files.py     needs torch==2.13.0 and numpy

The wrong answers are PyTorch's own ways to ask another question than was meant.
"""

import pathlib

import numpy
import torch

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data/check"
B, H, T, S, D = 2, 4, 12, 20, 8
attention = torch.nn.functional.scaled_dot_product_attention


def save(name, output):
    numpy.savez(FOLDER / name, output=output.contiguous().numpy())


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(3)
    q, k, v = (torch.from_numpy(random.standard_normal((B, H, length, D)).astype(numpy.float32))
               for length in (T, S, S))
    numpy.savez(FOLDER / "problem.npz", q=q.numpy(), k=k.numpy(), v=v.numpy())
    keep = torch.from_numpy(random.random((T, S)) < 0.6)
    keep[:, 0] = True
    numpy.save(FOLDER / "keep.npy", keep.numpy())

    causal = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    window = causal & torch.ones(T, S, dtype=torch.bool).triu(S - T - 4)  # 5 keys, the own included
    save("causal.npz", attention(q, k, v, attn_mask=causal))
    save("window_5.npz", attention(q, k, v, attn_mask=window))
    save("is_causal.npz", attention(q, k, v, is_causal=True))  # aligns top-left
    save("keep.npz", attention(q, k, v, attn_mask=keep))
    save("keep_as_float.npz", attention(q, k, v, attn_mask=keep.float()))  # adds 0 and 1
    save("keep_inverted.npz", attention(q, k, v, attn_mask=~keep))
    save("unscaled.npz", attention(q, k, v, scale=1.0))
    save("rows_first.npz", attention(q, k, v).transpose(1, 2))


if __name__ == "__main__":
    main()

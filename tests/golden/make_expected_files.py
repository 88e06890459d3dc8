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


def save_gradients(random, q, k, v):
    """Two key heads for four query heads, a bias for all batch rows: what autograd makes of it."""
    k, v = k[:, :2].clone(), v[:, :2].clone()
    bias, back = (torch.from_numpy(random.standard_normal(shape).astype(numpy.float32))
                  for shape in ((1, H, T, S), (B, H, T, D)))
    numpy.savez(FOLDER / "backward_problem.npz", q=q.numpy(), k=k.numpy(), v=v.numpy(),
                bias=bias.numpy(), grad_output=back.numpy())
    leaves = [q.clone(), k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), bias.repeat(B, 1, 1, 1)]
    for leaf in leaves:
        leaf.requires_grad_(True)
    hidden = ~torch.ones(T, S, dtype=torch.bool).tril(S - T)
    attention(*leaves[:3], attn_mask=leaves[3].masked_fill(hidden, -torch.inf)).backward(back)
    by_head = [leaf.grad.numpy() for leaf in leaves]
    summed = [by_head[0], *(part.reshape(B, 2, 2, S, D).sum(2) for part in by_head[1:3]),
              by_head[3].sum(0, keepdims=True)]
    names = ["grad_q", "grad_k", "grad_v", "grad_bias"]
    numpy.savez(FOLDER / "gradients.npz", **dict(zip(names, summed)))
    numpy.savez(FOLDER / "gradients_by_head.npz", **dict(zip(names, by_head)))


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
    save_gradients(random, q, k, v)


if __name__ == "__main__":
    main()

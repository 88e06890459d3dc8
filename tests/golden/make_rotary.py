#!/usr/bin/env python3
"""Turned attention and its gradients, computed by PyTorch in float64.

Split halves as `rotate_half` of Hugging Face's models has them, interleaved pairs as the complex
product of the original implementation. Run: python3 make_rotary.py  (needs torch and numpy)
Writes: rotary/NAME.npz
"""
import pathlib

import numpy
import torch

FOLDER = pathlib.Path(__file__).parent / "rotary"


def tables(length, width, base):
    inverse = 1.0 / base ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.outer(torch.arange(length, dtype=torch.float64), inverse)
    return angles.cos(), angles.sin()


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def turned(x, cosines, sines, positions, interleaved):
    """x (B,H,T,D); tables (P,r/2); positions (B,T)."""
    width = 2 * cosines.shape[1]
    part, rest = x[..., :width], x[..., width:]
    c, s = cosines[positions].unsqueeze(1), sines[positions].unsqueeze(1)
    if interleaved:
        pairs = torch.view_as_complex(part.unflatten(-1, (-1, 2)).contiguous())
        part = torch.view_as_real(pairs * torch.complex(c, s)).flatten(-2)
    else:
        part = part * torch.cat((c, c), -1) + rotate_half(part) * torch.cat((s, s), -1)
    return torch.cat((part, rest), dim=-1)


def make(name, seed, *, b, h, g, t, s, d, r, base, interleaved, positions=None, causal=True):
    torch.manual_seed(seed)
    q, k, v = (torch.randn(b, heads, n, d, dtype=torch.float32).double().requires_grad_()
               for heads, n in ((h, t), (g, s), (g, s)))
    grad_output = torch.randn(b, h, t, d, dtype=torch.float32).double()
    at = torch.arange(s).expand(b, s) if positions is None else positions
    cosines, sines = tables(int(at.max()) + 1, r, base)
    turned_q = turned(q, cosines, sines, at[:, s - t:], interleaved)
    turned_k = turned(k, cosines, sines, at, interleaved)
    mask = torch.ones(t, s, dtype=torch.bool).tril(s - t) if causal else None
    output = torch.nn.functional.scaled_dot_product_attention(
        turned_q, turned_k, v, attn_mask=mask, enable_gqa=True)
    output.backward(grad_output)
    arrays = {"q": q, "k": k, "v": v, "cosines": cosines, "sines": sines, "output": output,
              "grad_output": grad_output, "grad_q": q.grad, "grad_k": k.grad, "grad_v": v.grad}
    arrays = {key: value.detach().numpy() for key, value in arrays.items()}
    for key in ("q", "k", "v", "grad_output"):
        arrays[key] = arrays[key].astype(numpy.float32)
    if interleaved:
        arrays["interleaved"] = numpy.array(1)
    if causal:
        arrays["causal"] = numpy.array(1)
    if positions is not None:
        arrays["key_positions"] = positions.numpy()
        arrays["query_positions"] = positions[:, s - t:].numpy()
    FOLDER.mkdir(exist_ok=True)
    numpy.savez_compressed(FOLDER / f"{name}.npz", **arrays)


make("halves", 0, b=2, h=2, g=2, t=9, s=9, d=8, r=8, base=10000.0, interleaved=False)
make("pairs", 1, b=2, h=2, g=2, t=9, s=9, d=8, r=8, base=10000.0, interleaved=True)
make("partial_grouped", 2, b=1, h=4, g=2, t=5, s=17, d=20, r=12, base=500000.0, interleaved=False)
make("partial_pairs", 3, b=1, h=4, g=1, t=17, s=17, d=20, r=10, base=1000000.0, interleaved=True)
make("positions", 4, b=2, h=2, g=1, t=6, s=11, d=6, r=6, base=100.0, interleaved=False,
     positions=torch.stack((torch.arange(11) + 13, torch.arange(11).clamp(min=4) - 4)))

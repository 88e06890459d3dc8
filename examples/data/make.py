#!/usr/bin/env python3
"""Makes the two files of the README's examples (NumPy, PyTorch).

layer.npz: queries of four heads, keys and values of two, 48 tokens, width 8.
framework.npz: what PyTorch answers to it under a causal window that is one token wider than the
16 that was meant: the kind of fault `volvelle attend --expect` names.
"""

from pathlib import Path

import numpy as np
import torch

here = Path(__file__).resolve().parent
random = np.random.default_rng(1)
heads, key_heads, tokens, width, window = 4, 2, 48, 8, 17
q = random.standard_normal((1, heads, tokens, width), dtype=np.float32)
k = random.standard_normal((1, key_heads, tokens, width), dtype=np.float32)
v = random.standard_normal((1, key_heads, tokens, width), dtype=np.float32)
np.savez(here / "layer.npz", q=q, k=k, v=v)

position = torch.arange(tokens)
offset = position[:, None] - position[None, :]
seen = (offset >= 0) & (offset < window)
output = torch.nn.functional.scaled_dot_product_attention(
    *(torch.from_numpy(array) for array in (q, k, v)), attn_mask=seen, enable_gqa=True)
np.savez(here / "framework.npz", output=output.numpy())

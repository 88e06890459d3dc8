"""Writes tests/golden/modules/modules.npz and names.txt: what PyTorch's modules give, forward and
backward, in float64.

    python3 -m venv ENV && ENV/bin/pip install numpy torch==2.13.0
    ENV/bin/python tests/golden/make_modules.py

Parameters, inputs and the gradients that go back are not stored: both sides draw them, rounded to
float32, from the same small generator (src/base/random_numbers.h). Parameter p of a case, in the
order of named_parameters(), has seed 1000 * case + p
(half of unit(), plus 1 for the weights of norms); input i has 1000 * case + 900 + i, and the
gradient of the output has 1000 * case + 990. For each case:

    CASE.output      of the module
    CASE.inputs      gradients of its inputs, one after the other, flat
    CASE.parameters  gradients of its parameters in order, flat

names.txt has a line for each parameter: the case, the name, the shape.
"""

import pathlib
import platform

import numpy as np
import torch
from torch import nn

FOLDER = pathlib.Path(__file__).parent / "modules"
GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)


def drawn(seed, shape, scale=1.0, offset=0.0):
    """RandomNumbers(seed).unit() for every element, times scale, plus offset, as float32."""
    count = int(np.prod(shape))
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + GOLDEN_RATIO * np.arange(1, count + 1, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    unit = 2 * ((z >> np.uint64(11)).astype(np.float64) * 2.0**-53) - 1
    return torch.tensor((unit * scale + offset).astype(np.float32).astype(np.float64).reshape(shape))


class LanguageModel(nn.Module):
    """Token and position tables, pre-LN blocks, a final norm, the head tied."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.positions = nn.Embedding(6, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 12, 0.0, lambda x: nn.functional.gelu(x, approximate="tanh"),
                                           batch_first=True, norm_first=True)
        self.stack = nn.TransformerEncoder(layer, 2, nn.LayerNorm(8), enable_nested_tensor=False)

    def forward(self, ids):
        x = self.embedding(ids) + self.positions(torch.arange(ids.shape[1]))
        x = self.stack(x, mask=causal(ids.shape[1]), is_causal=True)
        return x @ self.embedding.weight.T


def turned(x, base, interleaved=False):
    """Rotary positions on (B,H,T,D): angles in double, tables in float32, as everywhere here."""
    width, tokens = x.shape[-1], x.shape[-2]
    frequencies = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.arange(tokens, dtype=torch.float64)[:, None] * frequencies
    cosines, sines = angles.cos().float().double(), angles.sin().float().double()
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
    pair = a * cosines - b * sines, a * sines + b * cosines
    return torch.stack(pair, -1).flatten(-2) if interleaved else torch.cat(pair, -1)


def rotary_attention(qkv, heads, base, interleaved=False):
    batch, tokens, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    q, k, v = (t.view(batch, tokens, heads, width // heads).transpose(1, 2) for t in qkv.chunk(3, -1))
    q, k = turned(q, base, interleaved), turned(k, base, interleaved)
    read = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    return read.transpose(1, 2).reshape(batch, tokens, width)


class CausalSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24, bias=False)
        self.out = nn.Linear(8, 8, bias=False)

    def forward(self, x):
        return self.out(rotary_attention(self.qkv(x), 2, 10000.0))


class RotaryLanguageModel(nn.Module):
    """LanguageModel with turned queries and keys in place of a table; interleaved pairs."""

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.in_proj_weight = nn.Parameter(torch.empty(24, 8))
            self.in_proj_bias = nn.Parameter(torch.empty(24))
            self.out_proj = nn.Linear(8, 8)

        def forward(self, x):
            qkv = nn.functional.linear(x, self.in_proj_weight, self.in_proj_bias)
            return self.out_proj(rotary_attention(qkv, 2, 50.0, interleaved=True))

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.self_attn = RotaryLanguageModel.Attention()
            self.linear1, self.linear2 = nn.Linear(8, 12), nn.Linear(12, 8)
            self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8)

        def forward(self, x):
            x = x + self.self_attn(self.norm1(x))
            return x + self.linear2(nn.functional.gelu(self.linear1(self.norm2(x)), approximate="tanh"))

    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([RotaryLanguageModel.Layer() for _ in range(2)])
            self.norm = nn.LayerNorm(8)

        def forward(self, x):
            for one in self.layers:
                x = one(x)
            return self.norm(x)

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.stack = RotaryLanguageModel.Stack()

    def forward(self, ids):
        return self.stack(self.embedding(ids)) @ self.embedding.weight.T


def causal(tokens):
    return nn.Transformer.generate_square_subsequent_mask(tokens, dtype=torch.float64)


def layer(norm_first, activation):
    return nn.TransformerEncoderLayer(8, 2, 12, 0.0, activation, batch_first=True, norm_first=norm_first)


def encoder():
    return nn.TransformerEncoder(layer(True, "relu"), 3, nn.LayerNorm(8), enable_nested_tensor=False)


def attention(**options):
    return nn.MultiheadAttention(8, 2, batch_first=True, **options)


def attend(module, q, kv, **options):
    return module(q, kv, kv, need_weights=False, **options)[0]


IDS = torch.tensor([[3, 1, 10, 0, 3], [7, 7, 2, 9, 3]])
LABELS = torch.tensor([[1, 10, 0, 3, -100], [7, 2, 9, 3, 5]])
X = (2, 5, 8)
CASES = [
    # name, module, shapes of its inputs, what is called
    ("linear", lambda: nn.Linear(8, 5), [X], None),
    ("linear_without_bias", lambda: nn.Linear(8, 5, bias=False), [X], None),
    ("embedding", lambda: nn.Embedding(11, 8), [], lambda m: m(IDS)),
    ("layer_norm", lambda: nn.LayerNorm(8), [X], None),
    ("rms_norm", lambda: nn.RMSNorm(8, eps=1e-6), [X], None),
    ("attention", attention, [X], lambda m, x: attend(m, x, x)),
    ("attention_without_bias", lambda: attention(bias=False), [X], lambda m, x: attend(m, x, x)),
    ("attention_causal", attention, [X],
     lambda m, x: attend(m, x, x, attn_mask=causal(5), is_causal=True)),
    ("attention_memory", attention, [X, (2, 7, 8)], attend),
    ("attention_separate", lambda: attention(kdim=6, vdim=6), [X, (2, 7, 6)], attend),
    ("post_relu", lambda: layer(False, "relu"), [X], None),
    ("post_gelu", lambda: layer(False, "gelu"), [X], None),
    ("pre_relu", lambda: layer(True, "relu"), [X], None),
    ("pre_gelu", lambda: layer(True, "gelu"), [X], None),
    ("encoder", encoder, [X], None),
    ("language_model", LanguageModel, [], lambda m: m(IDS)),
    ("language_model_loss", LanguageModel, [],
     lambda m: nn.functional.cross_entropy(m(IDS).flatten(0, 1), LABELS.flatten())),
    ("causal_self_attention", CausalSelfAttention, [X], None),
    ("rotary_language_model", RotaryLanguageModel, [], lambda m: m(IDS)),
]


def main():
    arrays, names = {}, []
    for number, (name, make, shapes, call) in enumerate(CASES):
        module = make().double()
        parameters = list(module.named_parameters())
        for p, (parameter_name, parameter) in enumerate(parameters):
            is_norm_weight = parameter.dim() == 1 and parameter_name.endswith("weight")
            parameter.data = drawn(1000 * number + p, parameter.shape, 0.5, 1.0 if is_norm_weight else 0.0)
            names.append(f"{name} {parameter_name} {','.join(map(str, parameter.shape))}")
        inputs = [drawn(1000 * number + 900 + i, shape).requires_grad_() for i, shape in enumerate(shapes)]
        output = call(module, *inputs) if call else module(*inputs)
        output.backward(drawn(1000 * number + 990, output.shape) if output.dim() else None)
        arrays[f"{name}.output"] = output.detach().numpy()
        if inputs:
            arrays[f"{name}.inputs"] = np.concatenate([x.grad.numpy().ravel() for x in inputs])
        arrays[f"{name}.parameters"] = np.concatenate([p.grad.numpy().ravel() for _, p in parameters])
    FOLDER.mkdir(exist_ok=True)
    np.savez(FOLDER / "modules.npz", **arrays)
    (FOLDER / "names.txt").write_text("\n".join(names) + "\n")
    (FOLDER / "versions.txt").write_text(
        f"torch {torch.__version__}, numpy {np.__version__}, python {platform.python_version()}\n")


if __name__ == "__main__":
    main()

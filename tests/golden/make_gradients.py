"""Writes tests/golden/gradients/problems.npz: 200 random attention problems over all options but
dropout, and the gradients that PyTorch's autograd gives for them in float64.

    python3 -m venv ENV && ENV/bin/pip install numpy torch==2.13.0
    ENV/bin/python tests/golden/make_gradients.py

The contract is written out in PyTorch operations, on tensors that hold every pair; autograd does
the rest. All numbers of the inputs are float16 numbers, so that they serve in every dtype as they
are. To keep the file small the arrays of all problems stand one after the other in flat arrays:

    settings   (200, columns) float64: the columns of SETTINGS, in that order
    inputs     float16: q, k, v, grad_output, then bias, slopes, bias_table, bucket_table, sinks
               where the problem has them
    integers   int16: query_positions, key_positions, query_offset, key_lengths, query_segments,
               key_segments where it has them
    keep       uint8
    gradients  float64: q, k, v, then bias ... sinks as above
"""

import math
import pathlib
import platform

import numpy as np
import torch

from make_attention import bucket

FOLDER = pathlib.Path(__file__).parent / "gradients"
PROBLEMS = 200
SETTINGS = ["batch", "key_heads", "group", "queries", "keys", "width", "value_width", "scale",
            "softcap", "bias", "slopes", "table_reach", "buckets", "bucket_count", "max_distance",
            "query_positions", "key_positions", "sinks", "causal", "top_left", "query_offset",
            "window", "window_right", "prefix", "chunk", "key_lengths", "left_padding", "segments",
            "keep"]
# How a dense array spans (B,H,T,S), by number; 0 is none.
SPANS = [None, "BHTS", "1HTS", "B1TS", "TS", "B11S", "", "HT1"]


def draw(random):
    """One problem's settings."""
    def of(*choices):
        return choices[random.integers(len(choices))]

    s = {name: 0 for name in SETTINGS}
    s.update(batch=of(1, 2), key_heads=of(1, 1, 2), group=of(1, 2, 3), queries=of(1, 2, 4, 5, 7),
             keys=of(1, 2, 4, 6, 9), width=of(1, 2, 3, 5), value_width=of(1, 2, 4),
             scale=of(math.nan, math.nan, 0.5, -0.75, 1.0), softcap=of(0, 0, 0.5, 2.0),
             bias=of(0, 0, 0, 1, 2, 3, 4, 5, 6, 7), slopes=of(0, 0, 1), table_reach=of(-1, -1, 0, 1, 3),
             query_positions=of(0, 0, 0, 1), key_positions=of(0, 0, 0, 1), sinks=of(0, 0, 1),
             causal=of(0, 1), top_left=of(0, 0, 1), window=of(0, 0, 0, 1, 3),
             window_right=of(0, 0, 0, 1, 3), chunk=of(0, 0, 0, 2, 4), key_lengths=of(0, 0, 0, 1),
             segments=of(0, 0, 0, 1), keep=of(0, 0, 0, 1, 2, 3, 4, 5, 7))
    if of(0, 0, 1):
        s.update(buckets=of(1, 2), bucket_count=of(4, 6, 8), max_distance=of(5, 20))
    if s["causal"]:
        s["prefix"] = of(0, 0, 2)
    if not s["top_left"]:
        s["query_offset"] = of(0, 0, 1)
    if s["key_lengths"]:
        s["left_padding"] = of(0, 1)
    return s


class Problem:
    def __init__(self, s, seed):
        self.s = s
        self.random = np.random.default_rng(seed)
        b, g, t, n = s["batch"], s["key_heads"], s["queries"], s["keys"]
        h = g * s["group"]
        self.sizes = {"B": b, "H": h, "T": t, "S": n}
        self.q = self.numbers(b, h, t, s["width"])
        self.k = self.numbers(b, g, n, s["width"])
        self.v = self.numbers(b, g, n, s["value_width"])
        self.grad_output = self.numbers(b, h, t, s["value_width"]).detach()
        self.bias = self.numbers(*self.span(s["bias"])) if s["bias"] else None
        self.slopes = self.numbers(h) if s["slopes"] else None
        self.bias_table = self.numbers(h, 2 * s["table_reach"] + 1) if s["table_reach"] >= 0 else None
        self.bucket_table = self.numbers(h, s["bucket_count"]) if s["buckets"] else None
        self.sinks = self.numbers(h) if s["sinks"] else None
        self.query_positions = self.integers(-5, t + 5, b, t) if s["query_positions"] else None
        self.key_positions = self.integers(-5, n + 5, b, n) if s["key_positions"] else None
        self.query_offset = self.integers(-2, n + 2, b) if s["query_offset"] else None
        self.key_lengths = self.integers(0, n + 1, b) if s["key_lengths"] else None
        self.query_segments = self.integers(0, 2, b, t) if s["segments"] else None
        self.key_segments = self.integers(0, 2, b, n) if s["segments"] else None
        self.keep = self.integers(0, 4, *self.span(s["keep"])).clamp(max=1) if s["keep"] else None

    def span(self, kind):
        return [1 if axis == "1" else self.sizes[axis] for axis in SPANS[kind]]

    def numbers(self, *shape):
        drawn = self.random.standard_normal(shape).astype(np.float16).astype(np.float64)
        return torch.tensor(drawn, requires_grad=True)

    def integers(self, low, high, *shape):
        return torch.tensor(self.random.integers(low, high, shape))

    def positions(self):
        """Where queries and keys stand for exclusion, and for biases: (B,T,1) and (B or 1,1,S)."""
        t, n = self.sizes["T"], self.sizes["S"]
        offset = torch.tensor(0 if self.s["top_left"] else n - t).reshape(1)
        if self.query_offset is not None:
            offset = self.query_offset
        p = (torch.arange(t) + offset.reshape(-1, 1)).unsqueeze(-1)
        j = torch.arange(n).reshape(1, 1, -1)
        own_p = p if self.query_positions is None else self.query_positions.unsqueeze(-1)
        own_j = j if self.key_positions is None else self.key_positions.unsqueeze(-2)
        return p, j, own_p, own_j

    def seen(self, p, j):
        s, n = self.s, self.sizes["S"]
        seen = torch.ones(self.sizes["B"], 1, self.sizes["T"], n, dtype=torch.bool)

        def take(rule):
            nonlocal seen
            seen = seen & rule.reshape(rule.shape[0], 1, *rule.shape[1:])

        if s["causal"]:
            take((j <= p) | (j < s["prefix"]))
        if s["window"]:
            take(j > p - s["window"])
        if s["window_right"]:
            take(j < p + s["window_right"])
        if s["chunk"]:
            take(torch.div(j, s["chunk"], rounding_mode="floor")
                 == torch.div(p, s["chunk"], rounding_mode="floor"))
        if self.key_lengths is not None:
            length = self.key_lengths.reshape(-1, 1, 1)
            take(j >= n - length if s["left_padding"] else j < length)
        if self.query_segments is not None:
            take(self.query_segments.unsqueeze(-1) == self.key_segments.unsqueeze(-2))
        if self.keep is not None:
            seen = seen & self.keep.bool()
        return seen

    def scores(self, own_p, own_j):
        s = self.s
        k = self.k.repeat_interleave(s["group"], 1)
        scale = 1 / math.sqrt(s["width"]) if math.isnan(s["scale"]) else s["scale"]
        scores = scale * (self.q @ k.transpose(-1, -2))
        if s["softcap"]:
            scores = s["softcap"] * torch.tanh(scores / s["softcap"])
        if self.bias is not None:
            scores = scores + self.bias
        offset = own_j - own_p
        if self.slopes is not None:
            scores = scores - self.slopes.reshape(1, -1, 1, 1) * offset.abs().unsqueeze(1)
        if self.bias_table is not None:
            m = s["table_reach"]
            scores = scores + self.bias_table[:, offset.clamp(-m, m) + m].transpose(0, 1)
        if self.bucket_table is not None:
            entry = bucket(offset, s["buckets"] == 2, s["bucket_count"], s["max_distance"])
            scores = scores + self.bucket_table[:, entry].transpose(0, 1)
        return scores

    def gradients(self):
        p, j, own_p, own_j = self.positions()
        scores = self.scores(own_p, own_j)
        seen = self.seen(p, j).expand(scores.shape)
        some = seen.any(-1, keepdim=True)
        # A row that sees nothing is given zeros to run on, and its weights are taken out after.
        columns = torch.where(some, scores.masked_fill(~seen, -math.inf), torch.zeros(()))
        if self.sinks is not None:
            sink = self.sinks.reshape(1, -1, 1, 1).expand(*scores.shape[:3], 1)
            columns = torch.cat([columns, torch.where(some, sink, torch.zeros(()))], -1)
        weights = torch.softmax(columns, -1)[..., : scores.shape[-1]]
        weights = torch.where(some, weights, torch.zeros(()))
        output = weights @ self.v.repeat_interleave(self.s["group"], 1)
        (output * self.grad_output).sum().backward()
        return [a.grad if a.grad is not None else torch.zeros_like(a) for a in self.floating()]

    def floating(self):
        wanted = (self.q, self.k, self.v, self.bias, self.slopes, self.bias_table,
                  self.bucket_table, self.sinks)
        return [a for a in wanted if a is not None]


def flat(tensors, dtype):
    parts = [np.asarray(t.detach()).astype(dtype).ravel() for t in tensors if t is not None]
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


def main():
    FOLDER.mkdir(exist_ok=True)
    random = np.random.default_rng(4)
    settings, inputs, integers, keep, gradients = [], [], [], [], []
    for number in range(PROBLEMS):
        s = draw(random)
        p = Problem(s, 1000 + number)
        settings.append([float(s[name]) for name in SETTINGS])
        inputs.append(flat([p.q, p.k, p.v, p.grad_output, *p.floating()[3:]], np.float16))
        integers.append(flat([p.query_positions, p.key_positions, p.query_offset, p.key_lengths,
                              p.query_segments, p.key_segments], np.int16))
        keep.append(flat([p.keep], np.uint8))
        gradients.append(flat(p.gradients(), np.float64))
    np.savez_compressed(FOLDER / "problems.npz", settings=np.array(settings),
                        inputs=np.concatenate(inputs), integers=np.concatenate(integers),
                        keep=np.concatenate(keep), gradients=np.concatenate(gradients))
    (FOLDER / "versions.txt").write_text(
        f"torch {torch.__version__}\nnumpy {np.__version__}\npython {platform.python_version()}\n")


if __name__ == "__main__":
    main()

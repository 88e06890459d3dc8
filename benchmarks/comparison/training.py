"""Whole training steps of a causal language model: forward, cross-entropy, backward, clipping, AdamW.
PyTorch runs eagerly with its fused AdamW and scaled_dot_product_attention; bfloat16 is its autocast.
Both sides start from the same weights and tokens, which are formulas (src/measure/training_model.h),
and their losses of the first steps are compared. ONNX Runtime does not train."""

import ctypes
import gc
import math
import pathlib

from .timing import Call

OP, SUBJECT = "training", "training"
SHAPES = {"tiny": (128, 4, 4, 512, 16, 128), "small": (256, 8, 6, 4096, 8, 256),
          "gpt2-124m": (768, 12, 12, 50257, 4, 256)}
FIRST_LOSSES, SPREAD, TOKEN_SEED = 3, 0.02, 1000
RATE, DECAY, CLIP = 3e-4, 0.01, 1.0


def cases():
    return [{"name": f"training {shape} {precision}", "shape": shape, "precision": precision}
            for shape in SHAPES for precision in ("float32", "bfloat16")]


def inputs(case, random):
    return {}


def bench_options(case):
    return ["--shape", case["shape"], "--precision", case["precision"]]


def ours(volvelle, case, arrays):
    import numpy
    row, _ = volvelle.bench(SUBJECT, bench_options(case))
    return {"losses": numpy.array(row["first_losses"])}


def bits(seed, count):
    """The first numbers of RandomNumbers(seed) (splitmix64)."""
    import numpy
    z = numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
    z += numpy.uint64(seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z ^= z >> numpy.uint64(shift)
        z *= numpy.uint64(factor)
    return z ^ (z >> numpy.uint64(31))


def matrix(number, shape):
    import numpy
    uniform = (bits(number, math.prod(shape)) >> numpy.uint64(11)).astype(numpy.float64) * 2.0 ** -53
    return (SPREAD * math.sqrt(3) * (2 * uniform - 1)).astype(numpy.float32).reshape(shape)


def tokens(vocabulary, batch, length):
    """(ids, labels): a row is length + 1 tokens."""
    import numpy
    drawn = (bits(TOKEN_SEED, batch * (length + 1)) % numpy.uint64(vocabulary)).astype(numpy.int64)
    drawn = drawn.reshape(batch, length + 1)
    return drawn[:, :-1], drawn[:, 1:]


def make_model(torch, width, heads, layers, vocabulary, length):
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.in_proj, self.out_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.linear1, self.linear2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

        def forward(self, x):
            shape = (x.shape[0], x.shape[1], heads, width // heads)
            q, k, v = (part.view(shape).transpose(1, 2)
                       for part in self.in_proj(self.norm1(x)).split(width, dim=2))
            seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out_proj(seen.transpose(1, 2).reshape(x.shape))
            inner = functional.gelu(self.linear1(self.norm2(x)), approximate="tanh")
            return x + self.linear2(inner)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(vocabulary, width)
            self.positions = nn.Embedding(length, width)
            self.layers = nn.ModuleList(Block() for _ in range(layers))
            self.norm = nn.LayerNorm(width)

        def forward(self, ids):
            x = self.embedding(ids) + self.positions.weight
            for layer in self.layers:
                x = layer(x)
            return functional.linear(self.norm(x), self.embedding.weight)

    return Model()


def fill(torch, model):
    """Matrices by the formula, in the order of the parameters; factors 1, biases 0."""
    number = 0
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() >= 2:
                parameter.copy_(torch.from_numpy(matrix(number, tuple(parameter.shape))))
                number += 1
            else:
                parameter.fill_(1.0 if "norm" in name and name.endswith("weight") else 0.0)


def status_bytes(key):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    return 0


def start_peak():
    """What is resident once freed memory went back to the system; the peak starts anew."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    return status_bytes("VmRSS:")


def torch_call(rival, case, arrays):
    torch = rival.torch
    width, heads, layers, vocabulary, batch, length = SHAPES[case["shape"]]
    before = start_peak()
    model = make_model(torch, width, heads, layers, vocabulary, length)
    fill(torch, model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY, fused=True)
    ids, labels = (torch.from_numpy(array.copy()) for array in tokens(vocabulary, batch, length))

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=case["precision"] == "bfloat16"):
            logits = model(ids)
            loss = torch.nn.functional.cross_entropy(logits.view(-1, vocabulary), labels.reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        return loss

    def results():
        import numpy
        return {"losses": numpy.array([step().item() for _ in range(FIRST_LOSSES)])}

    call = Call(step, results)
    call.peak_bytes = lambda: status_bytes("VmHWM:") - before
    return call


def onnx_call(rival, case, arrays):
    return None


def tolerance(case):
    return 1e-4 if case["precision"] == "float32" else 3e-2

"""The norm-placement study at its defaults: stacks of 12, 24 and 48 layers, post-LN and pre-LN, 20 seeds.
PyTorch runs the program whose figures the study reproduces, as its author wrote it: modules, then
`backward`, then the norms of one weight per layer. Both sides draw the same numbers; their 120 ratios
are compared. Ours is the whole program, its start, its repetitions in double and its control
included; PyTorch's time is without its import. ONNX Runtime does not go backward."""

import json
import statistics
import time

from . import matmul
from .timing import Call

OP, SUBJECT, VERB = "study", "norm-placement", "study"
WIDTH, HEADS, HIDDEN, CLASSES, BATCH, TOKENS = 64, 4, 256, 10, 8, 16
REPETITIONS = 3  # of ours in a turn


def cases():
    return [{"name": "study norm-placement", "depths": [12, 24, 48], "seeds": 20}]


def inputs(case, random):
    return {}


def bench_options(case):
    return ["--depths", ",".join(map(str, case["depths"])), "--seeds", str(case["seeds"])]


def command(volvelle, case):
    return ["study", SUBJECT, "--json", "--threads", str(volvelle.threads), *bench_options(case)]


def ours(volvelle, case, arrays):
    import numpy
    rows = json.loads(volvelle.run(command(volvelle, case)))["rows"]
    return {"log ratios": numpy.log(numpy.array([row["ratios"] for row in rows]))}


def bench(volvelle, case):
    """(a row, the machine): wall time of the program."""
    taken = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        volvelle.run(command(volvelle, case))
        taken.append(time.perf_counter() - start)
    smallest = matmul.cases()[0]
    _, machine = volvelle.bench(matmul.SUBJECT, matmul.bench_options(smallest))
    return {"milliseconds": statistics.median(taken) * 1e3}, machine


def program(torch, case):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, pre):
            super().__init__()
            self.pre = pre
            self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
            self.inner = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, WIDTH))
            self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

        def forward(self, x):
            if self.pre:
                h = self.norm1(x)
                x = x + self.attention(h, h, h, need_weights=False)[0]
                return x + self.inner(self.norm2(x))
            x = self.norm1(x + self.attention(x, x, x, need_weights=False)[0])
            return self.norm2(x + self.inner(x))

    def ratio(pre, depth, seed):
        torch.manual_seed(seed)
        blocks = nn.ModuleList(Block(pre) for _ in range(depth))
        final = nn.LayerNorm(WIDTH) if pre else nn.Identity()
        head = nn.Linear(WIDTH, CLASSES)
        x = torch.randn(BATCH, TOKENS, WIDTH)
        for block in blocks:
            x = block(x)
        labels = torch.randint(0, CLASSES, (BATCH * TOKENS,),
                               generator=torch.Generator().manual_seed(1000 + seed))
        logits = head(final(x)).reshape(-1, CLASSES)
        nn.functional.cross_entropy(logits, labels).backward()
        norms = [block.inner[0].weight.grad.norm().item() for block in blocks]
        return norms[-1] / norms[0]

    return [[ratio(pre, depth, seed) for seed in range(case["seeds"])]
            for depth in case["depths"] for pre in (False, True)]


def torch_call(rival, case, arrays):
    def results():
        import numpy
        return {"log ratios": numpy.log(numpy.array(program(rival.torch, case)))}
    return Call(lambda: program(rival.torch, case), results)


def onnx_call(rival, case, arrays):
    return None


def tolerance(case):
    return 2e-4

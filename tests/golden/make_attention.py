"""Writes tests/golden/attention/*.npz: attention problems and PyTorch's answers to them.

    python3 -m venv ENV && ENV/bin/pip install numpy torch==2.13.0
    ENV/bin/python tests/golden/make_attention.py

Where torch.nn.functional.scaled_dot_product_attention has the option, its answer is stored as
`output`; what it lacks (soft cap, sinks, buckets) is written out in PyTorch operations in float64,
and so are the half-precision cases, whose scores and weights PyTorch rounds to half precision.
Log-sum-exp and entropy come from the float64 scores. Arrays carry Volvelle's names; numbers and
flags of the problem are rank-0 arrays. bfloat16 is stored as float32, exactly.
"""

import math
import pathlib
import platform

import numpy as np
import torch
import torch.nn.functional as F

FOLDER = pathlib.Path(__file__).parent / "attention"


def numbers(shape, seed, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def qkv(b, h, g, t, s, d, e, dtype=torch.float32, seed=0):
    return (numbers((b, h, t, d), seed + 1, dtype), numbers((b, g, s, d), seed + 2, dtype),
            numbers((b, g, s, e), seed + 3, dtype))


def written_out(q, k, v, scale=None, softcap=0.0, bias=None, keep=None, sinks=None):
    """The contract in float64: output, lse, entropy, column sums."""
    q, k, v = q.double(), k.double(), v.double()
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = q @ k.transpose(-1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    if bias is not None:
        scores = scores + bias.double()
    if keep is not None:
        scores = scores.masked_fill(~keep.bool(), -math.inf)
    columns = scores
    if sinks is not None:
        columns = torch.cat([scores, sinks.double().reshape(1, -1, 1, 1).expand(*scores.shape[:3], 1)], -1)
    lse = torch.logsumexp(columns, -1)
    weights = torch.exp(columns - lse.unsqueeze(-1)).nan_to_num(0.0)
    entropy = torch.special.entr(weights).sum(-1)
    weights = weights[..., : scores.shape[-1]]
    return weights @ v, lse, entropy, weights.sum(-2)


def plain(tensor):
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    return tensor.numpy()


def save(name, q, k, v, output, statistics, **more):
    arrays = {"q": q, "k": k, "v": v, "output": output, "lse": statistics[1],
              "entropy": statistics[2], "column_sums": statistics[3]}
    arrays.update({key: value for key, value in more.items() if value is not None})
    stored = {key: plain(value) if torch.is_tensor(value) else np.asarray(value)
              for key, value in arrays.items()}
    np.savez(FOLDER / f"{name}.npz", **stored)


def sdpa_case(name, q, k, v, mask=None, causal=False, **more):
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal,
                                            scale=more.get("scale"),
                                            enable_gqa=q.shape[1] != k.shape[1])
    keep = mask if mask is not None and mask.dtype == torch.bool else None
    bias = mask if mask is not None and mask.dtype != torch.bool else None
    if causal:  # is_causal hangs from the top left corner
        keep = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril()
    statistics = written_out(q, k, v, scale=more.get("scale"), bias=bias, keep=keep)
    if q.dtype in (torch.float16, torch.bfloat16):
        output = statistics[0]
    extra = {"causal": 1, "top_left": 1} if causal else {"keep": keep, "bias": bias}
    extra.update({key: value for key, value in more.items() if key == "scale"})
    save(name, q, k, v, output, statistics, **extra)


def alibi(heads):
    """The slopes as the ALiBi authors' function gives them."""
    def of_power(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]
    if math.log2(heads).is_integer():
        return of_power(heads)
    closest = 2 ** math.floor(math.log2(heads))
    return of_power(closest) + of_power(2 * closest)[0::2][: heads - closest]


def bucket(relative, two_way, count, max_distance):
    """T5's buckets, in float32 as the reference has them."""
    base = torch.zeros_like(relative)
    if two_way:
        count //= 2
        base = (relative > 0).long() * count
        distance = relative.abs()
    else:
        distance = (-relative).clamp(min=0)
    exact = count // 2
    grown = exact + (torch.log(distance.float() / exact) / math.log(max_distance / exact)
                     * (count - exact)).long()
    return base + torch.where(distance < exact, distance, grown.clamp(max=count - 1))


def main():
    FOLDER.mkdir(exist_ok=True)
    torch.manual_seed(0)
    for old in FOLDER.glob("*.npz"):
        old.unlink()

    sdpa_case("plain", *qkv(2, 3, 3, 9, 13, 20, 12))
    sdpa_case("double", *qkv(1, 2, 2, 6, 7, 8, 8, torch.float64))
    sdpa_case("half", *qkv(1, 2, 2, 9, 13, 16, 16, torch.float16))
    sdpa_case("bfloat", *qkv(1, 2, 2, 9, 13, 16, 16, torch.bfloat16))
    sdpa_case("causal_square", *qkv(1, 2, 2, 17, 17, 16, 16), causal=True)
    sdpa_case("causal_top_left", *qkv(1, 1, 1, 4, 9, 8, 8), causal=True)
    sdpa_case("scale", *qkv(1, 2, 2, 5, 8, 16, 16), scale=0.3)
    sdpa_case("grouped_heads", *qkv(2, 6, 2, 5, 8, 16, 16))
    q, k, v = qkv(2, 2, 2, 7, 11, 8, 8)
    keep = numbers((2, 1, 7, 11), 5) > 0
    keep[0, 0, 3] = False  # a row that sees nothing
    sdpa_case("keep_with_empty_row", q, k, v, mask=keep)
    sdpa_case("bias", q, k, v, mask=numbers((2, 7, 11), 6))

    # Slopes and a causal window, as a float mask.
    q, k, v = qkv(1, 6, 3, 24, 24, 16, 16, seed=10)
    slopes = torch.tensor(alibi(6))
    offset = torch.arange(24).reshape(1, -1) - torch.arange(24).reshape(-1, 1)
    keep = (offset <= 0) & (offset > -5)
    bias = -slopes.reshape(-1, 1, 1) * offset.abs()
    output = F.scaled_dot_product_attention(
        q, k, v, attn_mask=bias.masked_fill(~keep, -math.inf).float(), enable_gqa=True)
    save("alibi_window", q, k, v, output, written_out(q, k, v, bias=bias, keep=keep), slopes=slopes,
         causal=1, window=5)

    # Key lengths and bottom-right causality with more keys than queries.
    q, k, v = qkv(3, 2, 2, 5, 12, 8, 8, seed=20)
    lengths = torch.tensor([12, 7, 0])
    keep = ((torch.arange(12) < lengths.reshape(-1, 1)).reshape(3, 1, 1, 12)
            & (torch.arange(12) <= torch.arange(5).reshape(-1, 1) + 7))
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=keep)
    save("key_lengths", q, k, v, output, written_out(q, k, v, keep=keep), key_lengths=lengths, causal=1)

    # Soft cap, sinks and buckets: written out.
    q, k, v = qkv(2, 4, 2, 9, 9, 16, 16, seed=30)
    q = q * 5
    answers = written_out(q, k, v, softcap=4.0)
    save("softcap", q, k, v, answers[0], answers, softcap=4.0)
    sinks = numbers((4,), 31)
    answers = written_out(q, k, v, sinks=sinks, keep=torch.ones(9, 9, dtype=torch.bool).tril(-1))
    save("sinks_strict", q, k, v, answers[0], answers, sinks=sinks, causal=1,
         query_offset=np.array([-1, -1]))
    for kind in (True, False):
        q, k, v = qkv(1, 2, 2, 40, 40, 8, 8, seed=40)
        table = numbers((2, 8), 41)
        offset = torch.arange(40).reshape(1, -1) - torch.arange(40).reshape(-1, 1)
        bias = table[:, bucket(offset, kind, 8, 20)]
        answers = written_out(q, k, v, bias=bias, scale=1.0)
        save("two_way_buckets" if kind else "one_way_buckets", q, k, v, answers[0], answers,
             bucket_table=table, two_way=int(kind), max_distance=20, scale=1.0)
    q, k, v = qkv(1, 2, 2, 9, 14, 8, 8, seed=50)
    table = numbers((2, 7), 51)
    offset = torch.arange(14).reshape(1, -1) - (torch.arange(9).reshape(-1, 1) + 5)
    answers = written_out(q, k, v, bias=table[:, offset.clamp(-3, 3) + 3])
    save("clamped_table", q, k, v, answers[0], answers, bias_table=table)

    # Buckets of every distance up to 100000, as the distances at which they change.
    runs = {}
    far = torch.arange(0, 100001)
    for count, max_distance in ((32, 128), (32, 256), (64, 256), (8, 20), (128, 512), (320, 800)):
        for two_way in (False, True):
            for ahead in (False, True):
                buckets = bucket(far if ahead else -far, two_way, count, max_distance)
                starts = torch.cat([torch.tensor([0]), 1 + torch.nonzero(buckets[1:] != buckets[:-1])[:, 0]])
                name = f"{'two' if two_way else 'one'}_{count}_{max_distance}_{'ahead' if ahead else 'behind'}"
                runs[name] = torch.stack([starts, buckets[starts]]).numpy()
    np.savez(FOLDER / "bucket_runs.npz", **runs)

    (FOLDER / "versions.txt").write_text(
        f"torch {torch.__version__}\nnumpy {np.__version__}\npython {platform.python_version()}\n")


if __name__ == "__main__":
    main()

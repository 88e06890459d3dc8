"""Causal attention with positions. PyTorch twice: "torch" as most programs write it (a bias (1,H,T,T),
made beforehand where it is fixed and gathered from its table in the call where it trains, given to
scaled_dot_product_attention; rotary by rotate_half, then its causal attention), and "flex",
FlexAttention compiled, with a score_mod and a block mask made beforehand. FlexAttention has no
backward on CPUs, nor has ONNX Runtime any of this in one call."""

from . import attention
from .timing import Call

OP, SUBJECT = "positions", "positions"
REACH, BUCKETS, MAX_DISTANCE = 128, 32, 128
GRADIENTS = {"rotary": None, "alibi": None, "clamped": "bias_table", "t5": "bucket_table"}


def cases():
    found = []
    for backward in (False, True):
        for scheme in ("rotary", "alibi", "clamped", "t5"):
            for length in (1024, 2048) if backward else (1024, 2048, 4096):
                name = f"{'backward ' if backward else ''}{scheme} T{length} D64 causal"
                case = attention.case(name, length, causal=True)
                found.append(dict(case, scheme=scheme, backward=backward))
    return found


def inputs(shape, random):
    arrays = attention.inputs(shape, random)
    heads = shape["heads"]
    if shape["scheme"] == "alibi":
        import numpy
        arrays["slopes"] = 2.0 ** (-8.0 / heads * numpy.arange(1, heads + 1, dtype="float32"))
    if shape["scheme"] == "clamped":
        arrays["bias_table"] = random.standard_normal((heads, 2 * REACH + 1)).astype("float32")
    if shape["scheme"] == "t5":
        arrays["bucket_table"] = random.standard_normal((heads, BUCKETS)).astype("float32")
    if shape["backward"]:
        arrays["grad_output"] = random.standard_normal(arrays["q"].shape).astype("float32")
    return arrays


def gradient_names(shape):
    table = GRADIENTS[shape["scheme"]]
    return ["q", "k", "v"] + ([table] if table else [])


def bench_options(shape):
    work = "backward" if shape["backward"] else "attention"
    return ["--work", work, "--scheme", shape["scheme"], *attention.bench_options(shape)]


def ours(volvelle, shape, arrays):
    options = ["--causal"]
    if shape["scheme"] == "rotary":
        options += ["--rotary", "split-half"]
    if shape["scheme"] == "t5":
        options += ["--buckets", "one-way", "--max-distance", str(MAX_DISTANCE)]
    if not shape["backward"]:
        return {"output": volvelle.attend(arrays, options)["output"]}
    found = volvelle.attend(arrays, ["--backward", *options])
    return {"grad_" + name: found["grad_" + name] for name in gradient_names(shape)}


def bucket_of(torch, distance):
    """T5's one-way bucket of query position minus key position, 0 and more (Raffel et al. 2019)."""
    exact = BUCKETS // 2
    far = exact + (torch.log(distance.clamp(min=1).double() / exact)
                   / torch.log(torch.tensor(MAX_DISTANCE / exact, dtype=torch.float64))
                   * (BUCKETS - exact)).long()
    return torch.where(distance < exact, distance, far.clamp(max=BUCKETS - 1))


def distances(torch, length):
    """Query position minus key position, (T,T)."""
    at = torch.arange(length)
    return at[:, None] - at[None, :]


def dense_bias(torch, shape, given):
    """A function that gives the bias, later keys hidden; with its table in the graph of gradients."""
    distance = distances(torch, shape["queries"])
    if shape["scheme"] == "alibi":
        bias = -given["slopes"][:, None, None] * distance
        bias = bias.masked_fill(distance < 0, float("-inf"))[None]
        return lambda: bias
    table = given[GRADIENTS[shape["scheme"]]]
    hidden = distance < 0
    if shape["scheme"] == "clamped":
        entry = (-distance).clamp(-REACH, REACH) + REACH
    else:
        entry = bucket_of(torch, distance.clamp(min=0))
    return lambda: table[:, entry].masked_fill(hidden, float("-inf"))[None]


def rotate_half(torch, x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def rotary_tables(torch, shape):
    pairs = shape["head_width"] // 2
    frequencies = 10000.0 ** (-torch.arange(pairs, dtype=torch.float64) / pairs)
    angles = torch.arange(shape["queries"], dtype=torch.float64)[:, None] * frequencies
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos().float(), angles.sin().float()


def torch_forward(torch, shape, given):
    attend = torch.nn.functional.scaled_dot_product_attention
    q, k, v = (given[name] for name in "qkv")
    if shape["scheme"] != "rotary":
        bias = dense_bias(torch, shape, given)
        return lambda: attend(q, k, v, attn_mask=bias())
    cosines, sines = rotary_tables(torch, shape)

    def turned(x):
        return x * cosines + rotate_half(torch, x) * sines
    return lambda: attend(turned(q), turned(k), v, is_causal=True)


def torch_call(rival, shape, arrays):
    torch = rival.torch
    given = {name: rival.tensor(array, "float32") for name, array in arrays.items()}
    if not shape["backward"]:
        timed = rival.inference(torch_forward(torch, shape, given))
        return Call(timed, lambda: {"output": rival.array(timed())})
    names = gradient_names(shape)
    for name in names:
        given[name].requires_grad_()
    output = torch_forward(torch, shape, given)()

    def timed():
        return torch.autograd.grad(output, [given[name] for name in names], given["grad_output"],
                                   retain_graph=True)
    return Call(timed, lambda: {"grad_" + name: rival.array(one)
                                for name, one in zip(names, timed())})


def score_mod(torch, shape, given):
    if shape["scheme"] == "alibi":
        slopes = given["slopes"]
        return lambda score, b, h, i, j: score - slopes[h] * (i - j)
    if shape["scheme"] == "clamped":
        table = given["bias_table"]
        return lambda score, b, h, i, j: score + table[h, (j - i).clamp(-REACH, REACH) + REACH]
    table, buckets = given["bucket_table"], bucket_of(torch, torch.arange(shape["queries"]))
    return lambda score, b, h, i, j: score + table[h, buckets[(i - j).clamp(min=0)]]


def flex_call(rival, shape, arrays):
    if shape["backward"] or shape["scheme"] == "rotary":
        return None
    torch = rival.torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    torch.compiler.reset()
    given = {name: rival.tensor(array, "float32") for name, array in arrays.items()}
    length = shape["queries"]
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, length, length, device="cpu")
    change = score_mod(torch, shape, given)
    compiled = torch.compile(
        lambda q, k, v: flex_attention(q, k, v, score_mod=change, block_mask=mask), dynamic=False)
    timed = rival.without_gradients(lambda: compiled(given["q"], given["k"], given["v"]))
    return Call(timed, lambda: {"output": rival.array(timed())})


def onnx_call(rival, shape, arrays):
    return None


def tolerance(shape):
    # Gradients of tables are sums over all pairs of an offset.
    return 2e-3 if shape["backward"] else 2e-5

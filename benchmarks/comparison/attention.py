"""Attention forward: PyTorch's scaled_dot_product_attention, ONNX Runtime's MultiHeadAttention
(com.microsoft). PyTorch takes a window as a boolean mask, as its users must."""

from .timing import Call

OP, SUBJECT = "attention", "attention"


def case(name, queries, width=64, causal=False, window=0, dtype="float32", batch=1, heads=8):
    return {"name": name, "dtype": dtype, "batch": batch, "heads": heads, "queries": queries,
            "head_width": width, "causal": causal, "window": window}


def kind(causal):
    return "causal" if causal else "full"


def cases():
    found = []
    for width in (64, 128):
        for length in (128, 512, 1024, 2048, 4096):
            for causal in (False, True):
                found.append(case(f"T{length} D{width} {kind(causal)}", length, width, causal))
    found.append(case("T4096 D64 window 256", 4096, causal=True, window=256))
    for dtype in ("float64", "float16"):
        for causal in (False, True):
            found.append(case(f"T1024 D64 {dtype} {kind(causal)}", 1024, 64, causal, dtype=dtype))
    for width in (64, 128):
        for length in (512, 1024, 2048):
            for causal in (False, True):
                found.append(case(f"T{length} D{width} bfloat16 {kind(causal)}", length, width,
                                  causal, dtype="bfloat16"))
    found.append(case("small: 1 head T2 D2", 2, 2, heads=1))
    found.append(case("small: B8 H4 T16 D16 causal", 16, 16, True, batch=8, heads=4))
    return found


def inputs(shape, random):
    size = (shape["batch"], shape["heads"], shape["queries"], shape["head_width"])
    kept = "float64" if shape["dtype"] == "float64" else "float32"
    return {name: random.standard_normal(size).astype(kept) for name in "qkv"}


def attend_options(shape):
    options = ["--dtype", shape["dtype"]]
    options += ["--causal"] if shape["causal"] else []
    return options + (["--window", str(shape["window"])] if shape["window"] else [])


def bench_options(shape):
    options = []
    for name in ("dtype", "batch", "heads", "queries", "head_width", "window"):
        if shape[name]:
            options += ["--" + name.replace("_", "-"), str(shape[name])]
    return options + (["--causal"] if shape["causal"] else [])


def ours(volvelle, shape, arrays):
    return {"output": volvelle.attend(arrays, attend_options(shape))["output"]}


def torch_mask(torch, shape):
    """The arguments that say which keys are seen."""
    if not shape["window"]:
        return {"is_causal": shape["causal"]}
    length = shape["queries"]
    keep = torch.ones(length, length, dtype=torch.bool).tril()
    return {"attn_mask": keep & keep.new_ones(length, length).triu(1 - shape["window"])}


def torch_call(rival, shape, arrays):
    torch = rival.torch
    q, k, v = (rival.tensor(arrays[name], shape["dtype"]) for name in "qkv")
    mask = torch_mask(torch, shape)
    attention = torch.nn.functional.scaled_dot_product_attention
    timed = rival.inference(lambda: attention(q, k, v, **mask))
    return Call(timed, lambda: {"output": rival.array(timed())})


def onnx_call(rival, shape, arrays):
    """On (B,T,H*D), the layout it is made for."""
    if shape["dtype"] != "float32" or shape["window"]:
        return None
    import numpy
    from onnx import TensorProto, helper
    batch, heads, length, width = arrays["q"].shape
    size = (batch, length, heads * width)
    names = ["query", "key", "value"]
    node = helper.make_node("MultiHeadAttention", names, ["output"], domain="com.microsoft",
                            num_heads=heads, unidirectional=int(shape["causal"]))
    session = rival.session(node, [(name, TensorProto.FLOAT, size) for name in names],
                            [("output", TensorProto.FLOAT, size)])
    given = {name: rival.value(arrays[array].transpose(0, 2, 1, 3).reshape(size))
             for name, array in zip(names, "qkv")}
    output = rival.value(numpy.zeros(size, numpy.float32))
    timed = rival.bound(session, given, {"output": output})

    def results():
        timed()
        merged = output.numpy().reshape(batch, length, heads, width)
        return {"output": merged.transpose(0, 2, 1, 3).astype("float64")}
    return Call(timed, results)


# Largest difference that rounding explains, for inputs of unit variance.
def tolerance(shape):
    return {"float32": 2e-5, "float64": 1e-12, "bfloat16": 5e-2, "float16": 1e-2}[shape["dtype"]]

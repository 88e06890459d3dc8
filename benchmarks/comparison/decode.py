"""One query over many keys that come from memory: equal keys and values in different places are
taken in turn, on every side. PyTorch's scaled_dot_product_attention (with enable_gqa where several
query heads read one key head), ONNX Runtime's GroupQueryAttention (com.microsoft), whose past and
present keys share a buffer; it writes the last key itself."""

from .timing import Call, cold_sets, in_turn

OP, SUBJECT = "decode", "decode"
KEY_HEADS = 8


def cases():
    found = []
    for dtype in ("float32", "bfloat16"):
        for width in (64, 128):
            for group in (1, 4):
                for keys in (1024, 4096, 16384, 32768):
                    name = f"decode S{keys} D{width} {dtype}" + (" grouped 4" if group > 1 else "")
                    found.append({"name": name, "dtype": dtype, "heads": group * KEY_HEADS,
                                  "key_heads": KEY_HEADS, "keys": keys, "head_width": width})
    return found


def inputs(shape, random):
    keys = (1, shape["key_heads"], shape["keys"], shape["head_width"])
    queries = (1, shape["heads"], 1, shape["head_width"])
    return {name: random.standard_normal(size, dtype="float32")
            for name, size in (("q", queries), ("k", keys), ("v", keys))}


def bench_options(shape):
    options = ["--queries", "1"]
    for name in ("dtype", "heads", "key_heads", "keys", "head_width"):
        options += ["--" + name.replace("_", "-"), str(shape[name])]
    return options


def ours(volvelle, shape, arrays):
    return {"output": volvelle.attend(arrays, ["--dtype", shape["dtype"]])["output"]}


def torch_call(rival, shape, arrays):
    q, k, v = (rival.tensor(arrays[name], shape["dtype"]) for name in "qkv")
    attention = rival.torch.nn.functional.scaled_dot_product_attention
    grouped = shape["heads"] != shape["key_heads"]
    count = cold_sets(2 * k.nbytes)
    sets = [(k, v)] + [(k.clone(), v.clone()) for _ in range(count - 1)]
    turns = in_turn([lambda k=k, v=v: attention(q, k, v, enable_gqa=grouped) for k, v in sets])
    timed = rival.inference(turns)
    return Call(timed, lambda: {"output": rival.array(timed())})


def onnx_call(rival, shape, arrays):
    if shape["dtype"] != "float32":
        return None
    import numpy
    from onnx import TensorProto, helper
    heads, key_heads = shape["heads"], shape["key_heads"]
    keys, width = shape["keys"], shape["head_width"]
    past, new = (1, key_heads, keys, width), (1, 1, key_heads * width)
    query = (1, 1, heads * width)
    names = ["query", "key", "value", "past_key", "past_value", "seqlens_k", "total_length"]
    node = helper.make_node("GroupQueryAttention", names,
                            ["output", "present_key", "present_value"], domain="com.microsoft",
                            num_heads=heads, kv_num_heads=key_heads)
    session = rival.session(
        node,
        [("query", TensorProto.FLOAT, query), ("key", TensorProto.FLOAT, new),
         ("value", TensorProto.FLOAT, new), ("past_key", TensorProto.FLOAT, past),
         ("past_value", TensorProto.FLOAT, past), ("seqlens_k", TensorProto.INT32, (1,)),
         ("total_length", TensorProto.INT32, ())],
        [("output", TensorProto.FLOAT, query), ("present_key", TensorProto.FLOAT, past),
         ("present_value", TensorProto.FLOAT, past)])
    given = {"query": rival.value(arrays["q"].reshape(query)),
             "key": rival.value(arrays["k"][:, :, -1].reshape(new)),
             "value": rival.value(arrays["v"][:, :, -1].reshape(new)),
             "seqlens_k": rival.value(numpy.array([keys - 1], numpy.int32)),
             "total_length": rival.value(numpy.array(keys, numpy.int32))}
    output = rival.value(numpy.zeros(query, numpy.float32))
    turns = []
    for _ in range(cold_sets(2 * arrays["k"].nbytes)):
        k, v = (rival.value(arrays[name].copy()) for name in "kv")
        turns.append(rival.bound(session, {**given, "past_key": k, "past_value": v},
                                 {"output": output, "present_key": k, "present_value": v}))
    timed = in_turn(turns)

    def results():
        timed()
        return {"output": output.numpy().reshape(1, heads, 1, width).astype("float64")}
    return Call(timed, results)


def tolerance(shape):
    return {"float32": 2e-5, "bfloat16": 2e-2}[shape["dtype"]]

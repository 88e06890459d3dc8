"""Products with weights that stay: PyTorch's linear, ONNX Runtime's MatMul with a constant right
operand, which it packs when the session is made. A single row reads its weights from memory: equal
ones in different places are taken in turn, on every side. `volvelle bench matmul` holds our product
against sums in double; the rivals' are held against NumPy's in double here."""

from .timing import Call, cold_sets, in_turn

OP, SUBJECT = "matmul", "matmul"


def cases():
    found = []
    for dtype in ("float32", "bfloat16"):
        for m, n, k in ((256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048),
                        (1, 3072, 768), (8, 3072, 768), (32, 3072, 768), (128, 768, 768),
                        (128, 3072, 768), (128, 768, 3072), (2048, 3072, 768), (2048, 768, 3072)):
            name = f"matmul {m}x{n}x{k} {dtype}" + (" cold" if m == 1 else "")
            found.append({"name": name, "dtype": dtype, "m": m, "n": n, "k": k, "cold": m == 1})
    return found


def inputs(shape, random):
    return {"x": random.standard_normal((shape["m"], shape["k"]), dtype="float32"),
            "w": random.standard_normal((shape["n"], shape["k"]), dtype="float32")}


def bench_options(shape):
    options = ["--cold"] if shape["cold"] else []
    for name in ("dtype", "m", "n", "k"):
        options += ["--" + name, str(shape[name])]
    return options


def rounded(array, dtype):
    """As stored: to bfloat16 with ties to even, in float64."""
    if dtype == "float32":
        return array.astype("float64")
    bits = array.view("uint32").astype("uint64")
    bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000
    return bits.astype("uint32").view("float32").astype("float64")


def ours(volvelle, shape, arrays):
    return {"y": rounded(arrays["x"], shape["dtype"]) @ rounded(arrays["w"], shape["dtype"]).T}


def torch_call(rival, shape, arrays):
    x, w = (rival.tensor(arrays[name], shape["dtype"]) for name in "xw")
    linear = rival.torch.nn.functional.linear
    count = cold_sets(w.nbytes) if shape["cold"] else 1
    sets = [w] + [w.clone() for _ in range(count - 1)]
    timed = rival.inference(in_turn([lambda w=w: linear(x, w) for w in sets]))
    return Call(timed, lambda: {"y": rival.array(timed())})


def onnx_call(rival, shape, arrays):
    if shape["dtype"] != "float32":
        return None
    import numpy
    from onnx import TensorProto, helper, numpy_helper
    m, n, k = shape["m"], shape["n"], shape["k"]
    weights = numpy_helper.from_array(numpy.ascontiguousarray(arrays["w"].T), "w")
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    x, y = rival.value(arrays["x"]), rival.value(numpy.zeros((m, n), numpy.float32))
    turns = []
    for _ in range(cold_sets(arrays["w"].nbytes) if shape["cold"] else 1):
        session = rival.session(node, [("x", TensorProto.FLOAT, (m, k))],
                                [("y", TensorProto.FLOAT, (m, n))], [weights])
        turns.append(rival.bound(session, {"x": x}, {"y": y}))
    timed = in_turn(turns)

    def results():
        timed()
        return {"y": y.numpy().astype("float64")}
    return Call(timed, results)


def tolerance(shape):
    """Sums of k terms of unit variance are about sqrt(k) large."""
    step = {"float32": 6e-6, "bfloat16": 2e-2}[shape["dtype"]]
    return step * shape["k"] ** 0.5

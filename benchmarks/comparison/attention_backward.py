"""The gradients of q, k and v, the forward pass already done: PyTorch's autograd through
scaled_dot_product_attention. ONNX Runtime's inference has none."""

from . import attention
from .timing import Call

OP, SUBJECT = "attention_backward", "backward"
NAMES = ("grad_q", "grad_k", "grad_v")


def cases():
    found = []
    for width in (64, 128):
        for length in (512, 1024, 2048):
            for causal in (False, True):
                name = f"backward T{length} D{width} {attention.kind(causal)}"
                found.append(attention.case(name, length, width, causal))
    found.append(attention.case("backward T4096 D64 window 256", 4096, causal=True, window=256))
    for dtype in ("float64", "bfloat16"):
        for causal in (False, True):
            name = f"backward T1024 D64 {dtype} {attention.kind(causal)}"
            found.append(attention.case(name, 1024, 64, causal, dtype=dtype))
    return found


def inputs(shape, random):
    arrays = attention.inputs(shape, random)
    arrays["grad_output"] = random.standard_normal(arrays["q"].shape).astype(arrays["q"].dtype)
    return arrays


bench_options = attention.bench_options


def ours(volvelle, shape, arrays):
    found = volvelle.attend(arrays, ["--backward", *attention.attend_options(shape)])
    return {name: found[name] for name in NAMES}


def torch_call(rival, shape, arrays):
    torch = rival.torch
    q, k, v = (rival.tensor(arrays[name], shape["dtype"]).requires_grad_() for name in "qkv")
    grad_output = rival.tensor(arrays["grad_output"], shape["dtype"])
    output = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, **attention.torch_mask(torch, shape))

    def timed():
        return torch.autograd.grad(output, (q, k, v), grad_output, retain_graph=True)
    return Call(timed, lambda: dict(zip(NAMES, (rival.array(one) for one in timed()))))


def onnx_call(rival, shape, arrays):
    return None


def tolerance(shape):
    return {"float32": 1e-4, "float64": 1e-11, "bfloat16": 0.2}[shape["dtype"]]

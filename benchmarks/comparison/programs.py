"""Who takes part: the volvelle program, PyTorch, ONNX Runtime."""

import json
import os
import subprocess
import sys
import tempfile


class Volvelle:
    def __init__(self, options):
        self.program = options.program
        self.threads = options.threads
        self.seconds = options.seconds
        if not os.access(self.program, os.X_OK):
            sys.exit(f"error: no program at {self.program}; `./run --version` builds it")

    def run(self, arguments):
        done = subprocess.run([self.program, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"error: volvelle {' '.join(arguments)}\n{done.stderr}")
        return done.stdout

    def attend(self, arrays, options):
        """The arrays that `volvelle attend` writes for those of the problem, in float64."""
        import numpy
        with tempfile.TemporaryDirectory() as folder:
            given, answer = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
            numpy.savez(given, **arrays)
            self.run(["attend", given, "--out", answer, "--threads", str(self.threads),
                      "--json", *options])
            with numpy.load(answer) as found:
                return {name: found[name].astype(numpy.float64) for name in found.files}

    def bench(self, subject, options):
        """(the row of one case, its machine)"""
        document = json.loads(self.run(["bench", subject, "--json", "--threads", str(self.threads),
                                        "--seconds", str(self.seconds), *options]))
        return document["rows"][0], document["machine"]


class Torch:
    name = "torch"

    def __init__(self, threads):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        self.version = torch.__version__

    def call(self, operation, case, arrays):
        return operation.torch_call(self, case, arrays)

    def tensor(self, array, dtype):
        return self.torch.from_numpy(array).to(getattr(self.torch, dtype))

    def array(self, tensor):
        return tensor.detach().to(self.torch.float64).numpy()

    def inference(self, function):
        """The function without any record for gradients."""
        def call():
            with self.torch.inference_mode():
                return function()
        return call


class FlexAttention(Torch):
    """PyTorch again, where an operation has a second way to say it."""
    name = "flex"

    def __init__(self, threads):
        import torch
        self.torch = torch
        self.version = torch.__version__

    def call(self, operation, case, arrays):
        return operation.flex_call(self, case, arrays) if hasattr(operation, "flex_call") else None

    def without_gradients(self, function):
        """`inference` refuses what torch.compile makes of captured arrays."""
        def call():
            with self.torch.no_grad():
                return function()
        return call


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self, threads):
        import onnxruntime
        self.runtime = onnxruntime
        self.threads = threads
        self.version = onnxruntime.__version__

    def call(self, operation, case, arrays):
        return operation.onnx_call(self, case, arrays)

    def session(self, node, inputs, outputs, constants=()):
        """A session of a single node; inputs and outputs are (name, ONNX type, shape)."""
        from onnx import helper
        graph = helper.make_graph(
            [node], "case",
            [helper.make_tensor_value_info(*one) for one in inputs],
            [helper.make_tensor_value_info(*one) for one in outputs], list(constants))
        model = helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
        settings = self.runtime.SessionOptions()
        settings.intra_op_num_threads = self.threads
        settings.inter_op_num_threads = 1
        settings.log_severity_level = 3
        return self.runtime.InferenceSession(model.SerializeToString(), settings,
                                             providers=["CPUExecutionProvider"])

    def bound(self, session, inputs, outputs):
        """A function that runs the session on these OrtValues, by name."""
        binding = session.io_binding()
        for name, value in inputs.items():
            binding.bind_ortvalue_input(name, value)
        for name, value in outputs.items():
            binding.bind_ortvalue_output(name, value)
        return lambda: session.run_with_iobinding(binding)

    def value(self, array):
        import numpy
        return self.runtime.OrtValue.ortvalue_from_numpy(numpy.ascontiguousarray(array))

#!/usr/bin/env python3
"""Writes the small array files that tests/io reads, as NumPy and safetensors make them.

    python3 -m venv V && V/bin/pip install numpy safetensors ml_dtypes
    V/bin/python tests/golden/make_array_files.py tests/data/io

The files are committed; they were made with the versions in tests/data/io/VERSIONS. `ramp` is
0, 0.5, 1, ... : every dtype here holds it or its integer part exactly.
"""
import io
import sys
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy

FLOATS = ["f2", "f4", "f8"]
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


def ramp(dtype, shape=(2, 3)):
    count = int(np.prod(shape))
    return (np.arange(count) * (0.5 if np.dtype(dtype).kind == "f" else 1)).astype(dtype).reshape(shape)


def npy(folder):
    for dtype in FLOATS + INTEGERS:
        np.save(folder / f"{dtype}.npy", ramp(dtype))
        if np.dtype(dtype).itemsize > 1:
            np.save(folder / f"{dtype}_big_endian.npy", ramp(dtype).astype(">" + dtype))
    np.save(folder / "b1.npy", np.array([[True, False, True], [False, False, True]]))
    np.save(folder / "fortran.npy", np.asfortranarray(ramp("f4", (2, 3, 4))))
    np.save(folder / "fortran_big_endian.npy", np.asfortranarray(ramp(">f8", (3, 2))))
    np.save(folder / "scalar.npy", np.float32(2.5))
    np.save(folder / "empty.npy", np.zeros((0, 3), "f4"))
    for version in [(2, 0), (3, 0)]:
        with open(folder / f"version{version[0]}.npy", "wb") as file:
            np.lib.format.write_array(file, ramp("f4"), version=version)
    for name, array in {
        "complex": np.zeros(2, "c8"),
        "string": np.array(["a", "b"]),
        "bytes": np.array([b"a", b"b"]),
        "date": np.zeros(2, "M8[s]"),
        "longdouble": np.zeros(2, "f16"),
        "object": np.array([[1], [1, 2]], dtype=object),
        "record": np.zeros(2, [("x", "f4"), ("y", "i4")]),
        "bfloat16": np.zeros(2, ml_dtypes.bfloat16),
    }.items():
        np.save(folder / f"refused_{name}.npy", array, allow_pickle=True)


def npz(folder):
    arrays = {
        "q": ramp("f4", (2, 3, 4)),
        "lengths": np.array([3, 5]),
        "keep": np.eye(3, dtype=bool),
        "fortran": np.asfortranarray(ramp("f4", (2, 3))),
        "big": ramp(">f8"),
        "both": np.asfortranarray(ramp(">f4", (2, 3))),
        "scalar": np.float64(2.5),
        "empty": np.zeros((0, 3), "f4"),
        "größe": ramp("f2"),
    }
    np.savez(folder / "stored.npz", **arrays)
    np.savez_compressed(folder / "deflated.npz", **arrays)
    np.savez(folder / "none.npz")
    member = io.BytesIO()
    np.save(member, ramp("f4"))
    # A member without .npy, and a file that was written without seeking back (sizes come last).
    with zipfile.ZipFile(folder / "bare_name.npz", "w") as archive:
        archive.writestr(zipfile.ZipInfo("q"), member.getvalue())

    class Pipe(io.RawIOBase):
        def __init__(self):
            self.data = b""

        def writable(self):
            return True

        def write(self, piece):
            self.data += bytes(piece)
            return len(piece)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open(zipfile.ZipInfo("q.npy"), "w", force_zip64=True) as out:
            out.write(member.getvalue())
    (folder / "streamed.npz").write_bytes(pipe.data)
    with zipfile.ZipFile(folder / "bzip2.npz", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr(zipfile.ZipInfo("q.npy"), member.getvalue(), zipfile.ZIP_BZIP2)
    with zipfile.ZipFile(folder / "torch.npz", "w") as archive:
        archive.writestr(zipfile.ZipInfo("model/data.pkl"), b"\x80\x02.")


def tensors(folder):
    names = {"f2": "F16", "f4": "F32", "f8": "F64"}
    arrays = {names.get(d, d.upper()): ramp(d) for d in FLOATS + INTEGERS}
    arrays["BOOL"] = np.array([[True, False, True], [False, False, True]])
    arrays["BF16"] = ramp("f4").astype(ml_dtypes.bfloat16)
    arrays["scalar"] = np.array(2.5, "f4")
    arrays["empty"] = np.zeros((0, 3), "f4")
    safetensors.numpy.save_file(arrays, folder / "all.safetensors", metadata={"format": "pt"})
    safetensors.numpy.save_file({}, folder / "metadata_only.safetensors", metadata={"a": "b"})
    safetensors.numpy.save_file({"good": ramp("f4"), "half": np.zeros(4, ml_dtypes.float8_e4m3fn)},
                                folder / "float8.safetensors")


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    npy(folder)
    npz(folder)
    tensors(folder)
    versions = {"numpy": np, "safetensors": safetensors, "ml_dtypes": ml_dtypes}
    (folder / "VERSIONS").write_text(
        f"python {sys.version.split()[0]}\n"
        + "".join(f"{name} {module.__version__}\n" for name, module in versions.items()))


main()

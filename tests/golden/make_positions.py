"""Writes tests/golden/positions/positions.npz: sinusoidal tables, rotary frequencies and xPos
factors, by the code that models were trained with, in float64.

    python3 -m venv ENV && ENV/bin/pip install numpy torch==2.13.0
    ENV/bin/python tests/golden/make_positions.py

The functions below follow, line by line, what they are named after: fairseq's
SinusoidalPositionalEmbedding, Marian's table in transformers (MarianSinusoidalPositionalEmbedding),
transformers' modeling_rope_utils.py, and torchscale's xpos_relative_position.py.
"""

import math
import pathlib
import platform

import numpy as np
import torch

FOLDER = pathlib.Path(__file__).parent / "positions"


def fairseq_table(rows, width):
    half = width // 2
    step = math.log(10000) / (half - 1)
    rates = torch.exp(torch.arange(half, dtype=torch.float64) * -step)
    angles = torch.arange(rows, dtype=torch.float64).unsqueeze(1) * rates.unsqueeze(0)
    table = torch.cat([torch.sin(angles), torch.cos(angles)], dim=1).view(rows, -1)
    if width % 2 == 1:
        table = torch.cat([table, torch.zeros(rows, 1, dtype=torch.float64)], dim=1)
    return table.numpy()


def marian_table(rows, width):
    angles = np.array(
        [[pos / np.power(10000, 2 * (j // 2) / width) for j in range(width)] for pos in range(rows)]
    )
    table = np.empty((rows, width))
    sentinel = width // 2 if width % 2 == 0 else (width // 2) + 1
    table[:, 0:sentinel] = np.sin(angles[:, 0::2])
    table[:, sentinel:] = np.cos(angles[:, 1::2])
    return table


def plain(base, dim):
    return 1.0 / (base ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim))


def dynamic(base, dim, factor, trained, length):
    length = max(length, trained)
    base = base * ((factor * length / trained) - (factor - 1)) ** (dim / (dim - 2))
    return plain(base, dim)


def yarn(base, dim, factor, trained, fast=32, slow=1, truncate=True):
    def correction_dim(turns):
        return (dim * math.log(trained / (turns * 2 * math.pi))) / (2 * math.log(base))

    low, high = correction_dim(fast), correction_dim(slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    if low == high:
        high += 0.001
    ramp = torch.clamp((torch.arange(dim // 2, dtype=torch.float64) - low) / (high - low), 0, 1)
    extrapolation, interpolation = plain(base, dim), plain(base, dim) / factor
    kept = 1 - ramp
    return interpolation * (1 - kept) + extrapolation * kept


def llama3(base, dim, factor, low, high, trained):
    rates = plain(base, dim)
    low_wavelength, high_wavelength = trained / low, trained / high
    wavelength = 2 * math.pi / rates
    made = torch.where(wavelength > low_wavelength, rates / factor, rates)
    smooth = (trained / wavelength - low) / (high - low)
    smoothed = (1 - smooth) * made / factor + smooth * made
    medium = ~(wavelength < high_wavelength) * ~(wavelength > low_wavelength)
    return torch.where(medium, smoothed, made)


def proportional(base, dim, share, factor):
    turning = int(share * dim // 2)
    rates = 1.0 / (base ** (torch.arange(0, 2 * turning, 2, dtype=torch.float64) / dim))
    return torch.cat([rates, torch.zeros(dim // 2 - turning, dtype=torch.float64)]) / factor


def xpos_scale(dim, length, scale_base):
    scale = (torch.arange(0, dim, 2, dtype=torch.float64) + 0.4 * dim) / (1.4 * dim)
    power = torch.arange(length, dtype=torch.float64) / scale_base
    return scale ** power[:, None]


def main():
    arrays = {
        "fairseq.8": fairseq_table(12, 8),
        "fairseq.9": fairseq_table(12, 9),
        "marian.8": marian_table(12, 8),
        "marian.9": marian_table(12, 9),
        "dynamic": dynamic(10000.0, 64, 2.0, 2048, 3000),
        "yarn": yarn(1e6, 128, 4.0, 32768),
        "yarn.exact": yarn(10000.0, 64, 40.0, 4096, truncate=False),
        "yarn.narrow": yarn(10000.0, 8, 4.0, 64),
        "llama3": llama3(5e5, 128, 8.0, 1.0, 4.0, 8192),
        "proportional": proportional(1e6, 64, 0.25, 2.0),
        "xpos": xpos_scale(16, 40, 512),
    }
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(
        FOLDER / "positions.npz",
        **{name: np.asarray(array, dtype=np.float64) for name, array in arrays.items()},
    )
    (FOLDER / "versions.txt").write_text(
        f"python {platform.python_version()}, numpy {np.__version__}, torch {torch.__version__}\n"
    )


main()

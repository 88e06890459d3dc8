#!/usr/bin/env python3
"""Prints CRC-32s of torch.Generator states for tests/base/torch_generator_state_test.cc (PyTorch 2.13)."""

import zlib

import torch


def crc(generator):
    return f"0x{zlib.crc32(bytes(generator.get_state().numpy())):08X}u"


g = torch.Generator().manual_seed(5)
print("manual_seed(5)", crc(g))
torch.randn(3, generator=g)
print("randn(3), which leaves a normal waiting", crc(g))
torch.randn(1, generator=g)
print("randn(1), which takes it", crc(g))
torch.rand(616, generator=g)
print("rand(616), up to the refill", crc(g))
torch.rand(1, generator=g)
print("rand(1), past it", crc(g), torch.rand(1, generator=g).item().hex())
print("a new generator", crc(torch.Generator()))

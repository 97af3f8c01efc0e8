#!/usr/bin/env python3
"""PyTorch's scaled_dot_product_attention timed by PyTorch alone, with its own events: what flashbench's figure for
pytorch-flash and its like is held against.

    python3 plugins/pytorch/event_loop.py --backend flash --batch 4 --heads 16 --seq 4096
    flashbench --impl pytorch-flash --batch 4 --heads 16 --seq 4096

As there, the cache is cold: twice the L2 is read before each sample, after a delay that outlasts the enqueueing.
"""

import argparse
import statistics

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

BACKENDS = {"math": SDPBackend.MATH, "flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION,
            "cudnn": SDPBackend.CUDNN_ATTENTION}
DELAY_CYCLES = 400_000  # about 0.2 ms


def words():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--backend", choices=BACKENDS, default="flash")
    for name, value in (("batch", 4), ("heads", 16), ("seq", 4096), ("head-dim", 128), ("samples", 200)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--dtype", choices=["fp16", "bf16"], default="fp16")
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--backward", action="store_true", help="time the backward alone")
    return parser.parse_args()


def call_of(given):
    """The function that is timed."""
    dtype = torch.float16 if given.dtype == "fp16" else torch.bfloat16
    shape = (given.batch, given.seq, given.heads, given.head_dim)

    def tensor():
        return torch.randn(shape, dtype=dtype, device="cuda").transpose(1, 2)

    q, k, v, gradient = (tensor().requires_grad_(given.backward) for _ in range(4))

    def forward():
        return scaled_dot_product_attention(q, k, v, is_causal=given.causal)

    if not given.backward:
        return forward
    out = forward()
    gradient = gradient.detach()
    return lambda: torch.autograd.grad(out, (q, k, v), gradient, retain_graph=True)


def samples_of(call, count):
    """Milliseconds, in order."""
    flushed = torch.ones(2 * torch.cuda.get_device_properties(0).L2_cache_size // 4, device="cuda")
    spans = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(count)]
    for _ in range(10):
        call()
    for start, stop in spans:
        torch.cuda._sleep(DELAY_CYCLES)
        flushed.sum()
        start.record()
        call()
        stop.record()
    torch.cuda.synchronize()
    return [start.elapsed_time(stop) for start, stop in spans]


def main():
    given = words()
    with sdpa_kernel(BACKENDS[given.backend]):
        samples = sorted(samples_of(call_of(given), given.samples))
    low, high = samples[len(samples) // 20], samples[-1 - len(samples) // 20]
    print(f"{statistics.median(samples):.5f} ms, 90 % of {len(samples)} samples within {low:.5f} to {high:.5f}")


if __name__ == "__main__":
    main()

"""An example of a plugin in Python: attention in fp32 as the formula says it, one row of scores at a time.

    flashbench --device cpu --plugin plugins/example/attention.py --impl v2,example-python --seq 64 --head-dim 16

It needs nothing but the standard library, and is as slow as that. An implementation worth timing hands the pointers
in `args` to NumPy, PyTorch or a compiled function instead.
"""

import ctypes
import math

import flashbench_plugin as fb


def floats(tensor, heads, rows, batches, dim):
    """The memory under a tensor as an array of floats, in the tensor's own order."""
    last = (batches - 1) * tensor.batch + (rows - 1) * tensor.seq + (heads - 1) * tensor.head + dim
    return (ctypes.c_float * max(last, 0)).from_address(tensor.data or 0)


class Attention(fb.Instance):
    def __init__(self, problem):
        self.problem = problem

    def forward(self, args, stream):
        p = self.problem
        if p.seq_q == 0:
            return
        q = floats(args.q, p.query_heads, p.seq_q, p.batch, p.head_dim)
        o = floats(args.o, p.query_heads, p.seq_q, p.batch, p.head_dim)
        lse = (ctypes.c_float * (p.batch * p.query_heads * p.seq_q)).from_address(args.lse)
        k = floats(args.k, p.kv_heads, p.seq_k, p.batch, p.head_dim) if p.seq_k else None
        v = floats(args.v, p.kv_heads, p.seq_k, p.batch, p.head_dim) if p.seq_k else None

        def row(array, tensor, b, h, s):
            start = b * tensor.batch + s * tensor.seq + h * tensor.head
            return array[start:start + p.head_dim]

        for b in range(p.batch):
            for h in range(p.query_heads):
                kv = h * p.kv_heads // p.query_heads
                keys = [row(k, args.k, b, kv, j) for j in range(p.seq_k)]
                values = [row(v, args.v, b, kv, j) for j in range(p.seq_k)]
                for i in range(p.seq_q):
                    visible = p.seq_k if p.mask == fb.FULL else min(max(i + 1 + p.seq_k - p.seq_q, 0), p.seq_k)
                    out, statistic = attend(row(q, args.q, b, h, i), keys[:visible], values[:visible], p.scale)
                    start = b * args.o.batch + i * args.o.seq + h * args.o.head
                    o[start:start + p.head_dim] = out
                    lse[(b * p.query_heads + h) * p.seq_q + i] = statistic


def attend(query, keys, values, scale):
    """One row of O and its LSE; 0 and -inf where it sees no key."""
    if not keys:
        return [0.0] * len(query), -math.inf
    scores = [scale * sum(a * b for a, b in zip(query, key)) for key in keys]
    m = max(scores)
    weights = [math.exp(s - m) for s in scores]
    l = sum(weights)
    return [sum(w * x for w, x in zip(weights, column)) / l for column in zip(*values)], m + math.log(l)


class Plain(fb.Implementation):
    name = "example-python"
    idea = "the formula in Python, as an example of a plugin"

    def supports(self, problem, device):
        if device.backend != fb.CPU or problem.dtype != fb.FP32:
            raise fb.Unsupported("the example does fp32 on the CPU")

    def cost(self, problem, device, passes):
        p = problem
        pairs = p.batch * p.query_heads * p.seq_q * p.seq_k
        queries, keys = (4 * p.batch * n * p.head_dim for n in (p.query_heads * p.seq_q, p.kv_heads * p.seq_k))
        cost = fb.Cost(saves=fb.SAVES_LSE)
        cost.add("attend", fb.PIPE_SGEMM, flops=4 * pairs * p.head_dim, exponentials=pairs,
                 read={fb.Q: queries, fb.K: keys, fb.V: keys}, written={fb.O: queries})
        return cost

    def create(self, problem, device, workspace):
        return Attention(problem)


fb.serve([Plain()])

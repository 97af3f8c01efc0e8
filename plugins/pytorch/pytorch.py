"""The peers: PyTorch's scaled_dot_product_attention with each of its backends, and the packages xformers, flash-attn 2
and flash-attn 3 where they are installed.

    flashbench --impl v2,pytorch-flash,pytorch-efficient,pytorch-cudnn,pytorch-math --seq 4096

They allocate their own outputs, so collect() copies them, untimed. A backward is autograd's, over the graph of the
forward of the same inputs; what is timed of the pass bwd is the backward alone. None of them says its LSE.
"""

import warnings

import flashbench_plugin as fb
from peer import Peer, process


def import_torch():
    try:
        import torch
    except Exception as error:
        raise fb.Unsupported(f"PyTorch cannot be imported by this python3: {error}") from None
    return torch


def choose_backend(name):
    """Of scaled_dot_product_attention: this one and no other."""
    import torch

    torch.backends.cuda.enable_flash_sdp(name == "flash")
    torch.backends.cuda.enable_mem_efficient_sdp(name == "efficient")
    torch.backends.cuda.enable_math_sdp(name == "math")
    torch.backends.cuda.enable_cudnn_sdp(name == "cudnn")


# How PyTorch, and cuDNN through it, say that a backend does not do a problem.
REFUSALS = ("No available kernel", "No viable backend", "Invalid backend", "No execution plans support",
            "No valid engine configs")


def reasons(refused, backend):
    """Why scaled_dot_product_attention refused, from the warnings that it gives when it is asked again."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            refused()
        except RuntimeError:
            pass
    heading = {"flash": "flash", "efficient": "memory efficient", "cudnn": "cudnn", "math": "math"}[backend]
    found, mine = [], True
    for warning in said:
        text = str(warning.message).split(" (Triggered internally")[0].strip()
        if text.endswith("not used because:"):
            mine = text.lower().startswith(heading)
        elif mine:
            found.append(text)
    return " ".join(found)


def unmasked_pairs(p):
    if p.mask == fb.FULL:
        return p.seq_q * p.seq_k
    side = min(p.seq_q, p.seq_k)
    return max(p.seq_k - p.seq_q, 0) * p.seq_q + side * (side + 1) // 2


class Package(fb.Implementation):
    passes = fb.FORWARD | fb.BACKWARD
    collects = True
    gpu_pipe = fb.PIPE_MMA  # the instruction of its products

    def pipe(self, device):
        return self.gpu_pipe if device.backend == fb.CUDA else fb.PIPE_SGEMM

    def supports(self, problem, device):
        torch = import_torch()
        if device.backend == fb.CUDA and not torch.cuda.is_available():
            made_for = f"CUDA {torch.version.cuda}" if torch.version.cuda else "the CPU only"
            raise fb.Unsupported(f"PyTorch {torch.__version__} (for {made_for}) sees no GPU")
        self.need(problem, device)

    def need(self, problem, device):
        """Raises Unsupported."""

    def cost(self, problem, device, passes):
        """Fused, each tensor once, masked pairs left out: the least that it can do."""
        p, cost = problem, fb.Cost()
        if device.backend == fb.CUDA and p.dtype == fb.FP32:
            return cost  # no ceiling is measured for fp32 products on a GPU
        pairs = p.batch * p.query_heads * unmasked_pairs(p)
        element = fb.ELEMENT_BYTES[p.dtype] * p.batch * p.head_dim
        queries, keys = element * p.query_heads * p.seq_q, element * p.kv_heads * p.seq_k
        statistics = 4 * p.batch * p.query_heads * p.seq_q
        inputs = {fb.Q: queries, fb.K: keys, fb.V: keys}
        if passes & fb.FORWARD:
            cost.add("forward", self.pipe(device), 4 * pairs * p.head_dim, pairs, inputs, {fb.O: queries})
        if passes & fb.BACKWARD:
            cost.add("backward", self.pipe(device), 10 * pairs * p.head_dim, pairs,
                     {**inputs, fb.O: queries, fb.DO: queries, fb.STATISTICS: statistics},
                     {fb.DQ: queries, fb.DK: keys, fb.DV: keys})
        return cost

    def create(self, problem, device, workspace):
        return Peer(problem, device, self.attention(problem, device))

    def attention(self, problem, device):
        """A function of q, k, v."""
        raise NotImplementedError


class Sdpa(Package):
    """torch.nn.functional.scaled_dot_product_attention, with one backend."""

    def __init__(self, backend, idea):
        self.backend, self.name, self.idea = backend, f"pytorch-{backend}", idea

    def need(self, problem, device):
        p = problem
        if device.backend == fb.CPU and self.backend in ("efficient", "cudnn"):
            raise fb.Unsupported(f"PyTorch has its {self.backend} backend for GPUs only")
        if p.mask == fb.CAUSAL and p.seq_q > p.seq_k and self.backend != "math":
            raise fb.Unsupported("PyTorch gives NaN to a query that sees no key")

    def pipe(self, device):
        hopper = self.backend == "cudnn" and device.compute_capability == 90
        return fb.PIPE_WGMMA if hopper else super().pipe(device)

    def cost(self, problem, device, passes):
        if self.backend == "math":  # unfused; how often it copies and widens its scores is not said
            return fb.Cost()
        return super().cost(problem, device, passes)

    def mask(self, problem, device):
        """PyTorch's is_causal is aligned top left, which differs from bottom right where Sq is not Sk."""
        import torch

        p = problem
        if p.mask == fb.FULL:
            return {}
        if p.seq_q == p.seq_k:
            return {"is_causal": True}
        if device.backend == fb.CUDA and self.backend in ("flash", "efficient"):
            from torch.nn.attention.bias import causal_lower_right
            return {"attn_mask": causal_lower_right(p.seq_q, p.seq_k)}
        where = torch.device("cuda", device.ordinal) if device.backend == fb.CUDA else "cpu"
        ones = torch.ones(p.seq_q, p.seq_k, dtype=torch.bool, device=where)
        return {"attn_mask": ones.tril(p.seq_k - p.seq_q)}

    def attention(self, problem, device):
        from torch.nn.functional import scaled_dot_product_attention

        words = {"scale": problem.scale, **self.mask(problem, device)}
        if problem.kv_heads != problem.query_heads:
            words["enable_gqa"] = True

        def attend(q, k, v):
            process.set("backend", self.backend, choose_backend)
            try:
                return scaled_dot_product_attention(q, k, v, **words)
            except RuntimeError as error:
                text = str(error)
                if not any(refusal in text for refusal in REFUSALS):
                    raise
                why = reasons(lambda: scaled_dot_product_attention(q, k, v, **words), self.backend)
                raise fb.Unsupported(f"PyTorch refuses: {why or text.splitlines()[0]}") from None

        return attend


class Imported(Package):
    """A package of its own; `call(module, q, k, v, problem)` takes and gives (b, s, h, d)."""

    def __init__(self, name, idea, module, call, gpu_pipe=fb.PIPE_MMA, grouped=True):
        self.name, self.idea, self.module, self.call = name, idea, module, call
        self.gpu_pipe, self.grouped = gpu_pipe, grouped

    def load(self):
        import importlib

        try:
            return importlib.import_module(self.module)
        except Exception as error:
            raise fb.Unsupported(f"{self.module} cannot be imported by this python3: {error}") from None

    def need(self, problem, device):
        if device.backend == fb.CPU:
            raise fb.Unsupported(f"{self.module} is for GPUs only")
        if problem.dtype == fb.FP32 and self.module != "xformers.ops":
            raise fb.Unsupported(f"{self.module} does 16-bit types only")
        if not self.grouped and problem.kv_heads != problem.query_heads:
            raise fb.Unsupported(f"{self.module} is used with as many KV heads as query heads")
        self.load()

    def attention(self, problem, device):
        module = self.load()

        def attend(q, k, v):
            try:
                out = self.call(module, *(x.transpose(1, 2) for x in (q, k, v)), problem)
            except (NotImplementedError, ValueError) as error:
                raise fb.Unsupported(str(error)) from None
            return (out[0] if isinstance(out, tuple) else out).transpose(1, 2)

        return attend


def flash_attn(module, q, k, v, p):
    return module.flash_attn_func(q, k, v, softmax_scale=p.scale, causal=p.mask == fb.CAUSAL,
                                  deterministic=bool(p.deterministic))


def xformers(module, q, k, v, p):
    bias = module.fmha.attn_bias.LowerTriangularFromBottomRightMask() if p.mask == fb.CAUSAL else None
    return module.memory_efficient_attention(q, k, v, attn_bias=bias, scale=p.scale)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    fb.serve([
        Sdpa("math", "PyTorch, unfused"),
        Sdpa("flash", "PyTorch's copy of FlashAttention-2"),
        Sdpa("efficient", "PyTorch's copy of xFormers' CUTLASS kernels"),
        Sdpa("cudnn", "PyTorch, by cuDNN"),
        Imported("xformers", "the package xformers", "xformers.ops", xformers, grouped=False),
        Imported("flash-attn2", "the package flash-attn 2", "flash_attn", flash_attn),
        Imported("flash-attn3", "the package flash-attn 3", "flash_attn_interface", flash_attn, fb.PIPE_WGMMA),
    ])

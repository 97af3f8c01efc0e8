"""An instance of any peer: a function of q, k, v under PyTorch's autograd, on flashbench's stream and tensors."""

import os

import flashbench_plugin as fb


class Process:
    """What is set for the whole process, and only when it changes."""

    def __init__(self):
        self.now = {}

    def set(self, what, value, apply):
        if self.now.get(what) != value:
            apply(value)
            self.now[what] = value


process = Process()


def be_deterministic(wanted):
    import torch

    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # else cuBLAS refuses
    torch.use_deterministic_algorithms(wanted)
    torch.utils.deterministic.fill_uninitialized_memory = False  # it would be part of the time


class Peer(fb.Instance):
    """Calls self.attend(q, k, v) on tensors of shape (b, h, s, d), and autograd."""

    def __init__(self, problem, device, attend):
        import torch
        from views import Views

        self.torch, self.problem, self.device, self.attend = torch, problem, device, attend
        self.training = bool(problem.passes & fb.BACKWARD)
        self.views = Views(problem, device)
        self.outputs, self.gradients = {}, {}  # by the address of Q: the input sets take turns
        if device.backend == fb.CUDA:
            torch.cuda.init()
            torch.cuda.set_device(device.ordinal)
        else:
            process.set("threads", device.multiprocessors, torch.set_num_threads)

    def inputs(self, args):
        view = self.views.of
        return (view(args.q, gradient=self.training), view(args.k, True, self.training),
                view(args.v, True, self.training))

    def prepare(self, stream):
        torch = self.torch
        if stream:
            process.set("stream", stream, lambda address: torch.cuda.set_stream(torch.cuda.ExternalStream(address)))
        if self.problem.deterministic or "deterministic" in process.now:
            process.set("deterministic", bool(self.problem.deterministic), be_deterministic)

    def forward(self, args, stream):
        self.prepare(stream)
        if not self.training:
            self.outputs.clear()  # its memory serves the next output
        try:
            with self.torch.set_grad_enabled(self.training):
                self.outputs[args.q.data] = self.attend(*self.inputs(args))
        except RuntimeError as error:
            self.refuse(error)

    def backward(self, args, stream):
        if args.q.data not in self.outputs:
            self.forward(args, stream)  # the statistics came from elsewhere; this needs its own graph
        self.prepare(stream)
        self.gradients.pop(args.q.data, None)
        try:
            self.gradients[args.q.data] = self.torch.autograd.grad(
                self.outputs[args.q.data], self.inputs(args), self.views.of(args.d_o), retain_graph=True)
        except RuntimeError as error:
            self.refuse(error)

    def refuse(self, error):
        """An error of PyTorch as flashbench knows it."""
        text = str(error)
        if isinstance(error, self.torch.cuda.OutOfMemoryError) or "can't allocate memory" in text:
            self.give_back()
            raise MemoryError(text.split(". ")[0]) from None
        raise error

    def collect(self, forward, backward, stream):
        self.prepare(stream)
        with self.torch.no_grad():
            if forward.q.data in self.outputs:
                self.views.of(forward.o).copy_(self.outputs[forward.q.data])
            if backward is not None and backward.q.data in self.gradients:
                dq, dk, dv = self.gradients[backward.q.data]
                self.views.of(backward.dq).copy_(dq)
                self.views.of(backward.dk, True).copy_(dk)
                self.views.of(backward.dv, True).copy_(dv)

    def give_back(self):
        """The caching allocator keeps nothing from the next problem and from other processes."""
        self.outputs.clear()
        self.gradients.clear()
        if self.device.backend == fb.CUDA:
            self.torch.cuda.synchronize()
            clear = getattr(self.torch._C, "_cuda_clearCublasWorkspaces", None)
            if clear:
                clear()
            self.torch.cuda.empty_cache()

    def destroy(self):
        self.give_back()
        self.views = None

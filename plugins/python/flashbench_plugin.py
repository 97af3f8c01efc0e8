"""A plugin of flashbench in Python: describe implementations, then call serve().

    import flashbench_plugin as fb

    class Plain(fb.Implementation):
        name = "plain"
        def cost(self, problem, device, passes): ...
        def create(self, problem, device, workspace): return Instance(problem)

    class Instance(fb.Instance):
        def forward(self, args, stream): ...

    fb.serve([Plain()])

flashbench starts the file as `python3 FILE --library L --backend cpu|cuda --descriptor N`, with this module in reach.
Everything here mirrors include/flashbench/attention.h, which says what each field means. Pointers are integers. The
functions run between the timer's two readings: what Python does there is part of the time on the CPU.
"""

import argparse
import ctypes
import os
import sys

ABI = 1
OK, UNSUPPORTED, OUT_OF_MEMORY, FAILED = range(4)
CPU, CUDA = range(2)
FP32, FP16, BF16 = range(3)
FULL, CAUSAL = range(2)
BSHD, BHSD = range(2)
FORWARD, BACKWARD = 1, 2
SAVES_LSE, SAVES_M_AND_L = 1, 2
Q, K, V, O, STATISTICS, SCORES, DO, DQ, DK, DV, OPERANDS = range(11)
PIPE_NONE, PIPE_SGEMM, PIPE_GEMM, PIPE_MMA, PIPE_WGMMA = range(5)
MAX_KERNELS = 12
ELEMENT_BYTES = {FP32: 4, FP16: 2, BF16: 2}

_int, _long, _double, _pointer = ctypes.c_int, ctypes.c_int64, ctypes.c_double, ctypes.c_void_p


class Message(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char * 512)]


class Device(ctypes.Structure):
    _fields_ = [("backend", _int), ("ordinal", ctypes.c_int32), ("compute_capability", ctypes.c_int32),
                ("multiprocessors", ctypes.c_int32), ("shared_bytes_per_block", _long),
                ("shared_bytes_per_multiprocessor", _long), ("l2_bytes", _long), ("memory_bytes", _long)]


class Problem(ctypes.Structure):
    _fields_ = [("batch", _long), ("query_heads", _long), ("kv_heads", _long), ("seq_q", _long), ("seq_k", _long),
                ("head_dim", _long), ("dtype", _int), ("mask", _int), ("layout", _int), ("passes", ctypes.c_uint32),
                ("deterministic", ctypes.c_int32), ("scale", _double), ("alignment", _long)]


class Tensor(ctypes.Structure):
    """(B, S, H, d); strides in elements."""

    _fields_ = [("data", _pointer), ("batch", _long), ("seq", _long), ("head", _long)]


class Traffic(ctypes.Structure):
    _fields_ = [("read", _double * OPERANDS), ("written", _double * OPERANDS)]


class KernelCost(ctypes.Structure):
    _fields_ = [("kernel", ctypes.c_char_p), ("pipe", _int), ("flops", _double), ("exponentials", _double),
                ("traffic", Traffic)]


_names = {}  # of kernels, as bytes that live as long as the process: C keeps pointers to them


class Cost(ctypes.Structure):
    _fields_ = [("kernel_count", ctypes.c_uint32), ("kernels", KernelCost * MAX_KERNELS), ("workspace_bytes", _long),
                ("saves", ctypes.c_uint32)]

    def add(self, kernel, pipe=PIPE_NONE, flops=0.0, exponentials=0.0, read=None, written=None):
        """Another kernel; read and written map operands (Q, K, ...) to bytes."""
        cost = self.kernels[self.kernel_count]
        cost.kernel = _names.setdefault(kernel, kernel.encode())
        cost.pipe, cost.flops, cost.exponentials = pipe, flops, exponentials
        for bytes_of, given in ((cost.traffic.read, read), (cost.traffic.written, written)):
            for operand, size in (given or {}).items():
                bytes_of[operand] = size
        self.kernel_count += 1


class Launch(ctypes.Structure):
    _fields_ = [("kernel", ctypes.c_char_p), ("registers", ctypes.c_int32), ("spilled_bytes", ctypes.c_int32),
                ("threads", ctypes.c_int32), ("shared_bytes", _long), ("blocks", _long),
                ("blocks_per_multiprocessor", ctypes.c_int32), ("waves", _double)]


class Forward(ctypes.Structure):
    _fields_ = [("q", Tensor), ("k", Tensor), ("v", Tensor), ("o", Tensor), ("lse", _pointer), ("m", _pointer),
                ("l", _pointer)]


class Backward(ctypes.Structure):
    _fields_ = [("q", Tensor), ("k", Tensor), ("v", Tensor), ("o", Tensor), ("d_o", Tensor), ("dq", Tensor),
                ("dk", Tensor), ("dv", Tensor), ("lse", _pointer), ("m", _pointer), ("l", _pointer)]


class InstanceTable(ctypes.Structure):
    _fields_ = [("state", _pointer), ("launch_count", ctypes.c_uint32), ("launches", Launch * MAX_KERNELS)]


_to = ctypes.POINTER
_Supports = ctypes.CFUNCTYPE(_int, _to(Problem), _to(Device), _to(Message))
_Cost = ctypes.CFUNCTYPE(_int, _to(Problem), _to(Device), ctypes.c_uint32, _to(Cost), _to(Message))
_Create = ctypes.CFUNCTYPE(_int, _to(Problem), _to(Device), _pointer, _to(InstanceTable), _to(Message))
_Forward = ctypes.CFUNCTYPE(_int, _pointer, _to(Forward), _pointer, _to(Message))
_Backward = ctypes.CFUNCTYPE(_int, _pointer, _to(Backward), _pointer, _to(Message))
_Collect = ctypes.CFUNCTYPE(_int, _pointer, _to(Forward), _to(Backward), _pointer, _to(Message))
_Destroy = ctypes.CFUNCTYPE(None, _pointer)


class ImplementationTable(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("idea", ctypes.c_char_p), ("section", ctypes.c_char_p),
                ("passes", ctypes.c_uint32), ("supports", _Supports), ("cost", _Cost), ("create", _Create),
                ("forward", _Forward), ("backward", _Backward), ("collect", _Collect), ("counts", _pointer),
                ("destroy", _Destroy)]


class Plugin(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("backend", _int), ("count", ctypes.c_uint32),
                ("implementations", _to(ImplementationTable))]


class Unsupported(Exception):
    """Raise it with one sentence: this problem or device is outside what the implementation does."""


class Instance:
    """What create() returns. An exception is a failure; Unsupported and MemoryError are what they say."""

    def forward(self, args, stream):
        raise NotImplementedError

    def backward(self, args, stream):
        raise NotImplementedError

    def collect(self, forward, backward, stream):
        """Untimed, where Implementation.collects: copies results into the tensors. backward may be None."""

    def destroy(self):
        pass


class Implementation:
    name, idea, section = "", "", ""
    passes = FORWARD
    collects = False  # whether results lie in memory of the instance's own until collect()

    def supports(self, problem, device):
        """Raises Unsupported for what it does not do."""

    def cost(self, problem, device, passes):
        return Cost()

    def create(self, problem, device, workspace):
        raise NotImplementedError


def _status_of(error, message):
    text = " ".join(str(error).split()) or type(error).__name__
    if not isinstance(error, (Unsupported, MemoryError)):
        text = f"{type(error).__name__}: {text}"
    message.contents.text = text.encode("utf-8", "replace")[:500].decode("utf-8", "ignore").encode()
    if isinstance(error, Unsupported):
        return UNSUPPORTED
    return OUT_OF_MEMORY if isinstance(error, MemoryError) else FAILED


def _guarded(function):
    """Turns what function raises into a status and a sentence; the message is always its last argument."""

    def call(*arguments):
        try:
            function(*arguments[:-1])
            return OK
        except BaseException as error:  # nothing may pass through C
            return _status_of(error, arguments[-1])

    return call


_instances = {}  # by the number that C carries as the state


def _table(implementation):
    def create(problem, device, workspace, instance):
        copy = Problem.from_buffer_copy(problem.contents)
        number = max(_instances, default=0) + 1
        _instances[number] = implementation.create(copy, Device.from_buffer_copy(device.contents), workspace)
        instance.contents.state = number
        instance.contents.launch_count = 0

    def cost(problem, device, passes, out):
        made = implementation.cost(problem.contents, device.contents, passes)
        ctypes.memmove(out, ctypes.byref(made), ctypes.sizeof(Cost))

    def destroy(state):
        instance = _instances.pop(state, None)
        if instance is not None:
            instance.destroy()

    nothing = ctypes.cast(None, _Collect)
    return ImplementationTable(
        implementation.name.encode(), implementation.idea.encode(), implementation.section.encode(),
        implementation.passes,
        _Supports(_guarded(lambda problem, device: implementation.supports(problem.contents, device.contents))),
        _Cost(_guarded(cost)), _Create(_guarded(create)),
        _Forward(_guarded(lambda state, args, stream: _instances[state].forward(args.contents, stream))),
        _Backward(_guarded(lambda state, args, stream: _instances[state].backward(args.contents, stream))),
        _Collect(_guarded(lambda state, forward, backward, stream: _instances[state].collect(
            forward.contents, backward.contents if backward else None, stream)))
        if implementation.collects else nothing, None, _Destroy(destroy))


def arguments():
    """What flashbench started this file with: library, backend ("cpu" or "cuda"), descriptor."""
    parser = argparse.ArgumentParser(description="A plugin of flashbench; started by flashbench --plugin FILE.")
    parser.add_argument("--library", required=True)
    parser.add_argument("--backend", required=True, choices=["cpu", "cuda"])
    parser.add_argument("--descriptor", required=True, type=int)
    return parser.parse_args()


def serve(implementations):
    """Answers flashbench until it says goodbye, then ends the process."""
    given = arguments()
    library = ctypes.CDLL(given.library)
    tables = (ImplementationTable * len(implementations))(*map(_table, implementations))
    plugin = Plugin(ABI, CUDA if given.backend == "cuda" else CPU, len(implementations), tables)
    name = os.path.basename(sys.argv[0]).encode()
    sys.exit(library.flashbench_serve(ctypes.byref(plugin), name, given.descriptor))

"""Tensors of PyTorch over memory that flashbench owns: nothing is copied. By DLPack, which knows the CPU, CUDA and bf16
and needs no NumPy."""

import ctypes

import torch

import flashbench_plugin as fb

_DEVICES = {fb.CPU: 1, fb.CUDA: 2}  # kDLCPU, kDLCUDA
_FLOAT, _BFLOAT = 2, 4  # type codes
_TYPES = {fb.FP32: (_FLOAT, 32), fb.FP16: (_FLOAT, 16), fb.BF16: (_BFLOAT, 16)}


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Views:
    """Views of shape (b, h, s, d) of one problem's tensors, made once each."""

    def __init__(self, problem, device):
        self.problem, self.device = problem, device
        self._made = {}
        self._kept = []  # what the views point to

    def of(self, tensor, keys=False, gradient=False):
        """keys: the tensor is K, V or a gradient of theirs. gradient: autograd is to differentiate by it."""
        place = (tensor.data, tensor.batch, tensor.seq, tensor.head, keys)
        if place not in self._made:
            view = self._view(tensor, keys)
            self._made[place] = view.requires_grad_() if gradient else view
        return self._made[place]

    def _view(self, tensor, keys):
        p = self.problem
        heads, rows = (p.kv_heads, p.seq_k) if keys else (p.query_heads, p.seq_q)
        code, bits = _TYPES[p.dtype]
        shape = (ctypes.c_int64 * 4)(p.batch, heads, rows, p.head_dim)
        strides = (ctypes.c_int64 * 4)(tensor.batch, tensor.head, tensor.seq, 1)
        managed = _Managed(_Tensor(tensor.data, _DEVICES[self.device.backend], self.device.ordinal, 4, code, bits, 1,
                                   shape, strides, 0), None, None)
        self._kept.append((managed, shape, strides))
        return torch.from_dlpack(_new_capsule(ctypes.addressof(managed), b"dltensor", None))

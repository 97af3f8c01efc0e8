"""Attention and its gradients of one head in NumPy, for scripts/verify: exact, and as a dtype costs.

Without a Precision everything is fp64. With one it is the comparator: fp32 throughout, P, O and dS
rounded to the dtype, and S and dP too where they lie in memory in it. Why: docs/judging.md.
"""

import typing

import numpy as np

DRAWN_ROWS = 64
MOST_ROWS_TO_DRAW = 8  # of a block
ROWS_AT_ONCE = 1024
FRACTION_BITS = {"fp32": 23, "fp16": 10, "bf16": 7}
LARGEST = {dtype: (2 - 2.0**-bits) * 2.0 ** (15 if dtype == "fp16" else 127) for dtype, bits in FRACTION_BITS.items()}


def to_bf16(x):
    """fp32 rounded to bf16, kept as fp32."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    even = ((bits >> 16) & 1) + np.uint32(0x7FFF)
    return np.where(np.isfinite(x), ((bits + even) & np.uint32(0xFFFF0000)).view(np.float32), x)


ROUND = {
    "fp32": lambda x: x,
    "fp16": lambda x: x.astype(np.float16).astype(np.float32),
    "bf16": to_bf16,
}


def half_unit_at(x, dtype):
    """Half a unit of the dtype in the last place of x."""
    exponent = np.frexp(np.where(np.isfinite(x), x, 0))[1]
    return np.where(np.isfinite(x) & (x != 0), np.exp2(exponent - 2.0 - FRACTION_BITS[dtype]), 0)


class Precision(typing.NamedTuple):
    dtype: str
    rounded_scores: bool


def roundings(precision):
    """The type that is computed in, what is done to P, O and dS, and what is done to S and dP."""
    if precision is None:
        return np.float64, lambda x: x, lambda x: x
    rounded = ROUND[precision.dtype]
    return np.float32, rounded, rounded if precision.rounded_scores else lambda x: x


def hidden_keys(rows, keys, causal, offset):
    """What the mask hides: (rows, keys). The first row sees the keys up to number `offset`."""
    if not causal:
        return np.zeros((rows, keys), bool)
    return np.arange(keys)[None, :] > np.arange(rows)[:, None] + offset


def score_errors(q, k, scale, causal, offset):
    """What each row's scores may be off by as sums in fp32: a unit of |scale| |q| |k|, of the longest key it sees."""
    q, k = (np.linalg.norm(x.astype(np.float64), axis=1) for x in (q, k))
    q, k = (np.where(np.isfinite(x), x, 0) for x in (q, k))
    seen = np.where(hidden_keys(len(q), len(k), causal, offset), 0, k)
    return 2.0**-23 * abs(scale) * q * seen.max(axis=1, initial=0)


def moved_by_scores(lse, top, errors, largest_v):
    """How far O of each row may move where its scores are off by up to `errors`."""
    others = 1 - np.exp(top - lse)  # P of all keys but the first; NaN without keys
    a, grown = np.minimum(others, 0.5), np.minimum(np.expm1(2 * errors), 1e300)
    return np.where(others > 0, 2 * largest_v * a * (1 - a) * grown / (1 + a * grown), 0)


def exponentials(q, k, scale, causal, offset, precision):
    """exp(S - its row's largest), (rows, keys); that largest S and the sum, (rows)."""
    real, _, stored = roundings(precision)
    s = stored((q.astype(real) @ k.astype(real).T) * real(scale))
    hidden = hidden_keys(*s.shape, causal, offset)
    s[hidden] = -np.inf
    top = s.max(axis=1, initial=-np.inf)
    p = np.exp(s - np.where(np.isneginf(top), 0, top)[:, None])
    p[hidden] = 0
    return p, top, p.sum(axis=1)


def attention(q, k, v, scale, causal, offset, precision=None):
    """O, LSE and the largest score of some query rows."""
    real, rounded, _ = roundings(precision)
    p, top, total = exponentials(q, k, scale, causal, offset, precision)
    lse = np.where(total == 0, -np.inf, top + np.log(np.where(total == 0, 1, total)))
    p = rounded((p / np.where(total == 0, 1, total)[:, None]).astype(real))
    return rounded(p @ v.astype(real)), lse, top


def rows_to_draw(lse, top):
    """The rows whose P lies most on one key; a row that sees a single key has no rounding to draw."""
    log_p = top - lse
    rows = np.flatnonzero(log_p < 0)
    return rows[np.argsort(-log_p[rows], kind="stable")][:MOST_ROWS_TO_DRAW]


def drawn_error(q, k, v, scale, causal, offset, precision, exact):
    """The largest error where P is rounded relative to other values than its sum.

    A kernel keeps exp(S - m) under a running maximum m and divides at the end: the same precision,
    other roundings. That of O costs half a unit at the least. `exact` holds O, LSE and the largest
    score of the same rows in fp64.
    """
    wanted, lse, top = exact
    rows = rows_to_draw(lse, top)
    if len(rows) == 0 or precision.dtype == "fp32":
        return 0
    rounded = ROUND[precision.dtype]
    count = DRAWN_ROWS // len(rows)
    # Even steps over a binade: beyond it the roundings repeat.
    shifts = np.exp2(-(np.arange(count) + 0.5) / count).astype(np.float32)
    most = 0
    for row in rows:
        p, _, total = exponentials(q[row : row + 1], k, scale, causal, offset + row, precision)
        o = rounded(p * shifts[:, None]) @ v.astype(np.float32) / (shifts * total)[:, None]
        most = max(most, largest_finite(rounded(o) - wanted[row]))
        most = max(most, largest_finite(np.hypot(o - wanted[row], half_unit_at(wanted[row], precision.dtype))))
    return most


def largest_finite(x, **axis):
    size = np.abs(x.astype(np.float64))
    return np.where(np.isfinite(size), size, 0).max(initial=0, **axis)


class RowErrors:
    """Of each query row, what roundings cost there: (rows, 1)."""

    def __init__(self, dots, squares, scores, top, rounded_scores):
        self.dot = dots
        self.dot_units = np.sqrt(squares)  # of D, in half units of the dtype
        self.score_units = np.maximum(1, scores) if rounded_scores else np.ones_like(scores)  # of P and dS
        # Of P, relative: S and the LSE are each rounded to fp32, and no P comes out above 1.
        self.weight = np.fmin(np.expm1(scores * 2.0**-23), 1 / np.where(top == 0, 1, top))
        # Of D, from there, times what P may have become.
        self.dot_of_weights = self.weight * (1 + self.weight) * (self.dot_units + np.abs(dots))


class Gradients:
    """dQ of the heads that share one KV head, and the dK and dV that they add up to.

    Without a Precision, `terms` and `scores` hold what each row of dq, dk and dv has to err by: the
    largest product that one rounding to the dtype enters, and what scores in fp32 cost.
    """

    def __init__(self, k, v, scale, causal, precision=None, rounded_scores=False):
        self.real, self.rounded, self.stored = roundings(precision)
        self.k, self.v = k.astype(self.real), v.astype(self.real)
        self.scale, self.causal, self.precision = scale, causal, precision
        self.rounded_scores = rounded_scores
        self.k_largest = largest_finite(k, axis=1)
        self.dk, self.dv = np.zeros_like(self.k), np.zeros_like(self.v)
        self.terms, self.scores = ({name: np.zeros(len(k)) for name in ("dk", "dv")} for _ in range(2))

    def add_head(self, q, d_o, step=ROWS_AT_ONCE):
        """Adds a query head and returns its dQ. Where `step` is 1, NaN goes to no row that is masked."""
        dq = np.zeros(q.shape, self.real)
        self.terms["dq"], self.scores["dq"] = np.zeros(len(q)), np.zeros(len(q))
        for first in range(0, len(q), step):
            rows, offset = slice(first, first + step), first + len(self.k) - len(q)
            end = offset + min(step, len(q) - first) if self.causal else len(self.k)
            if end > 0:
                dq[rows] = self.add_rows(rows, q[rows].astype(self.real), d_o[rows].astype(self.real), end, offset)
        return self.rounded(dq * self.real(self.scale))

    def add_rows(self, rows, q, d_o, end, offset):
        k, v = self.k[:end], self.v[:end]
        p, top, total = exponentials(q, k, self.scale, self.causal, offset, self.precision)
        some = np.where(total == 0, 1, total)
        p = self.rounded((p / some[:, None]).astype(self.real))
        o = p @ v
        d = (d_o * self.rounded(o)).sum(axis=1, keepdims=True)
        ds = self.rounded(p * (self.stored(d_o @ v.T) - d))
        ds[hidden_keys(*ds.shape, self.causal, offset)] = 0
        self.dk[:end] += ds.T @ q
        self.dv[:end] += p.T @ d_o
        if self.precision is None:
            size = np.where(total == 0, 0, np.maximum(np.abs(top), np.abs(top + np.log(some))))
            squares = ((d_o * o) ** 2).sum(axis=1) + ((ds + p * d) ** 2).sum(axis=1)
            errors = RowErrors(d, squares[:, None], size[:, None], p.max(axis=1, keepdims=True), self.rounded_scores)
            self.find_least_errors(rows, p, ds, q, d_o, errors)
        return ds @ k

    def find_least_errors(self, rows, p, ds, q, d_o, row):
        end = p.shape[1]
        q, d_o = (largest_finite(x, axis=1)[:, None] for x in (q, d_o))
        units = np.abs(ds) * row.score_units
        if self.rounded_scores:
            units = np.fmax(units, np.abs(ds + p * row.dot))  # P dP
        most = np.fmax.reduce(units * self.k_largest[:end], axis=1)
        p_k = largest_finite(p @ self.k[:end], axis=1)
        self.terms["dq"][rows] = np.fmax(most, row.dot_units[:, 0] * p_k)
        self.scores["dq"][rows] = row.weight[:, 0] * most + row.dot_of_weights[:, 0] * p_k
        for name, terms in (("dk", np.fmax(units, p * row.dot_units) * q), ("dv", p * row.score_units * d_o)):
            self.terms[name][:end] = np.fmax(self.terms[name][:end], np.fmax.reduce(terms, axis=0))
        self.scores["dk"][:end] += ((np.abs(ds) * row.weight + p * row.dot_of_weights) * q).sum(axis=0)
        self.scores["dv"][:end] += (p * row.weight * d_o).sum(axis=0)

    def finished(self):
        """dK and dV."""
        return self.rounded(self.dk * self.real(self.scale)), self.rounded(self.dv)

    def least_error(self, name, exact, dtype):
        """What each row of a gradient has to err by; `exact` is that gradient."""
        factor = 1 if name == "dv" else abs(self.scale)
        terms, scores = (factor * np.where(np.isfinite(x[name]), x[name], 0) for x in (self.terms, self.scores))
        own = half_unit_at(largest_finite(exact, axis=1), dtype)
        return np.maximum(terms * 2.0 ** -(FRACTION_BITS[dtype] + 1), own) + scores

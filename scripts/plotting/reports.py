"""Reports of flashbench as rows: what the pictures need of them, and nothing that a file leaves out."""

import dataclasses
import json
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

SCHEMA = "flashbench.report/1"
OUTCOMES = {"oom": "out of memory", "failed": "failed", "unsupported": "unsupported", "crashed": "crashed",
            "timeout": "timed out", "not_run": "not run"}
COUNTERS = {  # hardware's, by level of memory: read and written
    "l2": ("l1tex__m_xbar2l1tex_read_bytes.sum", "l1tex__m_l1tex2xbar_write_bytes.sum"),
    "dram": ("dram__bytes_read.sum", "dram__bytes_write.sum"),
}


class BadReport(Exception):
    """A file that is no report of flashbench; the message names it and what was expected."""


@dataclasses.dataclass(frozen=True)
class Source:
    """On what, and by what, a row was measured."""

    device: str
    driver: str
    cuda: str
    commit: str
    day: str

    def words(self) -> list[str]:
        parts = [
            self.device or "unknown device",
            f"driver {self.driver}" if self.driver else "",
            f"CUDA {self.cuda}" if self.cuda else "",
            f"flashbench {self.commit or 'of unknown commit'}",
            self.day,
        ]
        return [part for part in parts if part]


@dataclasses.dataclass(frozen=True)
class Row:
    """One row; None where the report gives no figure."""

    key: str
    impl: str
    provider: str  # the plugin or other build that it came from; empty of what is built in
    source: Source
    pass_name: str
    dtype: str
    mask: str
    head_dim: int
    seq: tuple[int, int]  # queries, keys
    batch: int
    heads: int
    setting: str  # what is not as usual: layout, cache, KV heads, ...
    status: str
    tflops: float | None
    tflops_range: tuple[float, float] | None  # of the 95 % interval
    peak: float | None  # 0 ... 1, of the datasheet's peak
    ceiling: float | None  # of the binding ceiling
    binds: str
    extra_bytes: float | None
    tensor_bytes: float | None  # inputs and outputs
    traffic: dict[str, float]  # bytes by who says so: model, host, and hardware's l2 and dram
    tiles_unknown: bool  # the model is a plugin's that has each kernel move each tensor once

    @property
    def ran(self) -> bool:
        return self.status == "ok"

    @property
    def outcome(self) -> str:
        """Of a row that did not run, in words."""
        return OUTCOMES.get(self.status, self.status)


def part(record: Any, *path: str) -> Any:
    """What stands at the path; None where something on the way is missing."""
    for name in path:
        record = record.get(name) if isinstance(record, dict) else None
    return record


def number(record: Any, *path: str) -> float | None:
    value = part(record, *path)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def text(record: Any, *path: str) -> str:
    value = part(record, *path)
    return value if isinstance(value, str) else ""


def source_of(top: dict[str, Any]) -> Source:
    return Source(
        device=text(top, "device", "name"),
        driver=text(top, "device", "driver"),
        cuda=text(top, "device", "cuda"),
        commit=text(top, "tool", "commit"),
        day=text(top, "started")[:10],
    )


def setting_of(row: dict[str, Any]) -> str:
    problem = row["problem"]
    unusual = []
    if part(problem, "kv_heads") not in (None, part(problem, "heads")):
        unusual.append(f"{problem['kv_heads']} KV heads")
    for name, value, usual in (
        ("layout", text(problem, "layout"), "bshd"),
        ("init", text(row, "init"), "normal"),
        ("cache", text(row, "cache"), "cold"),
    ):
        if value not in ("", usual):
            unusual.append(f"{name} {value}")
    scale, head_dim = number(problem, "scale"), number(problem, "head_dim")
    if scale is not None and head_dim and abs(scale * head_dim**0.5 - 1) > 1e-6:
        unusual.append(f"scale {scale:.6g}")
    if part(problem, "deterministic"):
        unusual.append("deterministic")
    return ", ".join(unusual)


def total(*figures: float | None) -> float | None:
    return None if any(figure is None for figure in figures) else sum(f for f in figures if f is not None)


def traffic_of(row: dict[str, Any]) -> dict[str, float]:
    by_whom = {
        "model": number(row, "traffic", "model", "total_bytes"),
        "host": number(row, "traffic", "host", "total_bytes"),
    }
    for level, metrics in COUNTERS.items():
        by_whom[level] = total(*(number(row, "traffic", "measured", metric) for metric in metrics))
    kernels = part(row, "cost", "kernels")
    if by_whom["model"] is None and isinstance(kernels, list) and kernels:
        by_whom["model"] = sum(
            float(amount)
            for kernel in kernels
            for way in ("read", "written")
            for amount in (part(kernel, "traffic", way) or {}).values()
        )
    return {who: amount for who, amount in by_whom.items() if amount}


def whole_tensors(problem: dict[str, Any]) -> dict[str, float]:
    """The bytes of each operand of the problem; of the statistics, m and l."""
    size = {name: number(problem, name) or 0 for name in ("batch", "heads", "seq_q", "seq_k", "head_dim")}
    kv_heads = number(problem, "kv_heads") or size["heads"]
    element = 4 if text(problem, "dtype") == "fp32" else 2
    queries = element * size["batch"] * size["heads"] * size["seq_q"] * size["head_dim"]
    keys = element * size["batch"] * kv_heads * size["seq_k"] * size["head_dim"]
    return {**dict.fromkeys(("q", "o", "do", "dq"), queries), **dict.fromkeys(("k", "v", "dk", "dv"), keys),
            "statistics": 2 * 4 * size["batch"] * size["heads"] * size["seq_q"]}


def has_unknown_tiles(row: dict[str, Any]) -> bool:
    """Whether it is a plugin's that declares no more than every fused kernel must do, whatever its tiles."""
    kernels = part(row, "cost", "kernels")
    if not text(row, "source").startswith("plugin:") or not isinstance(kernels, list):
        return False
    whole = whole_tensors(row["problem"])
    moved = [(operand, amount) for kernel in kernels for way in ("read", "written")
             for operand, amount in (part(kernel, "traffic", way) or {}).items()]
    return bool(moved) and all(amount <= whole.get(operand, 0) for operand, amount in moved)


def row_of(row: dict[str, Any], source: Source) -> Row | None:
    """None where the row does not say which problem it is of."""
    problem = part(row, "problem")
    shape = [number(problem, name) for name in ("seq_q", "seq_k", "head_dim", "batch", "heads")]
    words = [text(row, "impl"), text(row, "pass"), text(problem, "dtype"), text(problem, "mask")]
    if any(size is None for size in shape) or not all(words):
        return None
    seq_q, seq_k, head_dim, batch, heads = (int(size) for size in shape if size is not None)
    ok = text(row, "status") == "ok"
    tflops, median = (number(row, *path) if ok else None for path in (("tflops",), ("time_ms", "median")))
    low, high = (number(row, "time_ms", end) if ok else None for end in ("low", "high"))
    provider = text(row, "source")
    return Row(
        key=text(row, "key"),
        impl=words[0],
        provider="" if provider == "built-in" else provider,
        source=source,
        pass_name=words[1],
        dtype=words[2],
        mask=words[3],
        head_dim=head_dim,
        seq=(seq_q, seq_k),
        batch=batch,
        heads=heads,
        setting=setting_of(row),
        status=text(row, "status"),
        tflops=tflops,
        tflops_range=(tflops * median / high, tflops * median / low) if tflops and median and low and high else None,
        peak=number(row, "utilization", "peak") if ok else None,
        ceiling=number(row, "utilization", "ceiling") if ok else None,
        binds=text(row, "utilization", "binds") if ok else "",
        extra_bytes=total(number(row, "memory", "workspace_bytes"), number(row, "memory", "saved_bytes")),
        tensor_bytes=total(number(row, "memory", "inputs_bytes"), number(row, "memory", "outputs_bytes")),
        traffic=traffic_of(row),
        tiles_unknown=has_unknown_tiles(row),
    )


def rows_of(path: pathlib.Path) -> Iterable[Row]:
    try:
        report = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, RecursionError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"it is not JSON ({error})"
        raise BadReport(f"cannot read {path}: {reason}") from error
    schema = part(report, "schema")
    if not isinstance(part(report, "rows"), list) or schema not in (None, SCHEMA):
        raise BadReport(f"{path} is no report: expected a JSON object with \"schema\": \"{SCHEMA}\" and a list \"rows\"")
    origins = [source_of(top) for top in part(report, "origins") or []]
    for record in report["rows"]:
        origin = part(record, "origin")
        known = isinstance(origin, int) and 0 <= origin < len(origins)
        row = row_of(record, origins[origin] if known else source_of(report))
        if row is not None:
            yield row


def named_apart(rows: Sequence[Row]) -> list[Row]:
    """With the provider in the name of an implementation that others provide as well."""
    providers: dict[str, set[str]] = {}
    for row in rows:
        providers.setdefault(row.impl, set()).add(row.provider)
    return [
        dataclasses.replace(row, impl=f"{row.impl} ({row.provider})")
        if row.provider and len(providers[row.impl]) > 1 else row
        for row in rows
    ]


def read(paths: Sequence[pathlib.Path]) -> list[Row]:
    """All rows in the reports' order. Of a device's rows with one key the last counts, unless it was not run."""
    found: dict[tuple[str, str], Row] = {}
    for path in paths:
        for place, row in enumerate(rows_of(path)):
            name = row.source.device, row.key or f"{path} {place}"
            if name not in found or row.status != "not_run":
                found[name] = row
    return named_apart(list(found.values()))

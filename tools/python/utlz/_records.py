"""Plain records of what a report says. What is not known is None, never zero.

An `…_error` is one standard error of the field it is named after, in its unit. Where
`value - 1.96 * error` is below zero, all that is known is "less than value + 1.96 * error".
"""

import dataclasses
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Type, TypeVar

Record = TypeVar("Record")


@dataclasses.dataclass(frozen=True)
class WorkByType:
    """FLOPs of one data type.

    data_type: "bf16", "fp16", "tf32", "fp8", "int8", "fp32", "fp64" or "fp64_tensor".
    flops, flops_error: floating-point (or integer tensor) operations of all launches; a fused
        multiply-add is two.
    source: where the number comes from, such as "sampled" or "range".
    assumed: the data type was taken from the kernel's name.
    """

    data_type: str
    flops: Optional[float] = None
    flops_error: Optional[float] = None
    source: Optional[str] = None
    assumed: bool = False


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel variant: a function with one grid, block and cluster on one device.

    name, short_name, mangled_name: demangled; shortened, unique in the report; as the module has it.
    family: what its name says that it does, such as "matrix product"; "other" where it does not say.
    grid, block: numbers of blocks and of threads, as (x, y, z).
    device_uuid: "GPU-…", where it ran.
    pids: processes that launched it.
    launches: number, scaled to the run where tracing was in windows.
    time_ns, time_error_ns: nanoseconds, sum over launches.
    time_share: 0…1, of all kernels' time.
    time_mean_ns, time_p50_ns, time_p99_ns, time_minimum_ns, time_maximum_ns: nanoseconds of one
        launch.
    flops, flops_error: operations of all launches, all data types; a fused multiply-add is two.
    flops_by_type: the same by data type.
    dram_read_bytes, dram_write_bytes, dram_bytes, dram_bytes_error: bytes of all launches.
    l2_bytes: bytes of all launches.
    arithmetic_intensity: FLOPs per DRAM byte.
    flops_per_second, dram_bytes_per_second: per second of its own time.
    flops_peak_share, dram_peak_share: 0…1, of its time that this work needs at the device's peak.
    sm_active_share, tensor_active_share: 0…1, while it ran.
    bound: "compute", "memory", "latency", "communication", "neither" or "unknown".
    roofline_time_ns: nanoseconds that its work needs at the device's peaks.
    roofline_efficiency: 0…1, roofline time per time.
    estimated_savings_ns, estimated_savings_error_ns: nanoseconds, time less roofline time.
    flops_source, bytes_source: "sampled", "calibrated", "range", …
    withheld_reason: why counters are not shown.
    graph: launched as nodes of CUDA graphs.
    communication: a kernel of a communication library.
    """

    name: str
    short_name: str
    mangled_name: str = ""
    family: str = "other"
    id: Optional[int] = None
    grid: Tuple[int, ...] = ()
    block: Tuple[int, ...] = ()
    cluster: Tuple[int, ...] = ()
    registers_per_thread: Optional[int] = None
    shared_bytes: Optional[int] = None
    graph: bool = False
    communication: bool = False
    variant_label: str = ""
    device_uuid: str = ""
    pids: Tuple[int, ...] = ()
    launches: Optional[int] = None
    launches_traced: Optional[int] = None
    launches_untimed: Optional[int] = None
    time_ns: Optional[float] = None
    time_error_ns: Optional[float] = None
    time_share: Optional[float] = None
    time_mean_ns: Optional[float] = None
    time_p50_ns: Optional[float] = None
    time_p99_ns: Optional[float] = None
    time_minimum_ns: Optional[float] = None
    time_maximum_ns: Optional[float] = None
    flops: Optional[float] = None
    flops_error: Optional[float] = None
    flops_by_type: Tuple[WorkByType, ...] = ()
    dram_read_bytes: Optional[float] = None
    dram_write_bytes: Optional[float] = None
    dram_bytes: Optional[float] = None
    dram_bytes_error: Optional[float] = None
    l2_bytes: Optional[float] = None
    arithmetic_intensity: Optional[float] = None
    flops_per_second: Optional[float] = None
    dram_bytes_per_second: Optional[float] = None
    flops_peak_share: Optional[float] = None
    dram_peak_share: Optional[float] = None
    sm_active_share: Optional[float] = None
    tensor_active_share: Optional[float] = None
    bound: str = "unknown"
    roofline_time_ns: Optional[float] = None
    roofline_efficiency: Optional[float] = None
    estimated_savings_ns: Optional[float] = None
    estimated_savings_error_ns: Optional[float] = None
    attained_roofline_time_ns: Optional[float] = None
    flops_source: str = "unknown"
    bytes_source: str = "unknown"
    withheld_reason: str = ""


@dataclasses.dataclass(frozen=True)
class Family:
    """Kernels whose names say that they do one kind of work.

    name: "matrix product", "attention", "elementwise", …, "other".
    kernels: number of variants.
    launches: number. time_ns, estimated_savings_ns: nanoseconds. flops: operations. dram_bytes:
        bytes. time_share: 0…1, of all kernels' time. Sums over the variants of which they are
        known; None where they are known of none.
    """

    name: str
    kernels: int
    launches: Optional[int]
    time_ns: Optional[float]
    time_share: Optional[float]
    flops: Optional[float]
    dram_bytes: Optional[float]
    estimated_savings_ns: Optional[float]


@dataclasses.dataclass(frozen=True)
class Step:
    """One step of the program's loop; a report has at most 2,000.

    index: from 0.
    start_ns: nanoseconds since the run's start.
    time_ns: nanoseconds, pauses included.
    warmup: one of the leading, slow steps.
    slow: longer than others.
    slow_reason: what differed then.
    """

    index: int
    start_ns: Optional[float]
    time_ns: float
    warmup: bool
    slow: bool
    slow_reason: str


# The first word found in a name decides. As in the comparison of profiles (tools/compare).
FAMILY_WORDS = (
    ("nccl", "communication"), ("allreduce", "communication"), ("flash", "attention"),
    ("fmha", "attention"), ("attention", "attention"), ("sdpa", "attention"),
    ("softmax", "softmax"), ("layer_norm", "normalization"), ("layernorm", "normalization"),
    ("rms", "normalization"), ("batch_norm", "normalization"), ("adam", "optimizer"),
    ("multi_tensor", "optimizer"), ("conv", "convolution"), ("gemv", "matrix product"),
    ("gemm", "matrix product"), ("matmul", "matrix product"), ("nvjet", "matrix product"),
    ("cutlass", "matrix product"), ("embedding", "gather"), ("index", "gather"),
    ("gather", "gather"), ("reduce", "reduction"), ("elementwise", "elementwise"),
    ("copy", "elementwise"), ("triton_poi", "elementwise"),
)


def family_of(name: str) -> str:
    """What a kernel's name says that it does."""
    lower = name.lower()
    return next((family for word, family in FAMILY_WORDS if word in lower), "other")


def _record(kind: Type[Record], row: Mapping[str, Any], **values: Any) -> Record:
    """A record of the fields that the row has; a newer report may have more."""
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    known = {name: tuple(value) if isinstance(value, list) else value
             for name, value in row.items() if name in names and value is not None}
    return kind(**{**known, **values})


def kernels_of(report: Mapping[str, Any]) -> List[Kernel]:
    """In the report's order: estimated savings first, then time."""
    kernels = []
    for row in report.get("kernels", []):
        types = tuple(_record(WorkByType, entry) for entry in row.get("flops_by_type", []))
        kernels.append(_record(Kernel, {"short_name": row["name"], **row}, flops_by_type=types,
                               family=family_of(row["name"])))
    return kernels


def _sum(values: Iterable[Optional[float]]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def families_of(kernels: Iterable[Kernel]) -> List[Family]:
    """Those with most time first."""
    members: Dict[str, List[Kernel]] = {}
    for kernel in kernels:
        members.setdefault(kernel.family, []).append(kernel)
    families = [
        Family(name=name, kernels=len(variants),
               **{field: _sum(getattr(kernel, field) for kernel in variants)
                  for field in ("launches", "time_ns", "time_share", "flops", "dram_bytes",
                                "estimated_savings_ns")})
        for name, variants in members.items()]
    return sorted(families, key=lambda family: -(family.time_ns or 0))


def steps_of(report: Mapping[str, Any]) -> List[Step]:
    """In order of time; none where the program has no loop that was found."""
    steps = report.get("steps") or {}
    starts = steps.get("start_ns", [])
    reasons = dict(zip(steps.get("slow", []), steps.get("slow_reason", [])))
    slow = set(steps.get("slow", []))
    return [Step(index=index, start_ns=starts[index] if index < len(starts) else None,
                 time_ns=time_ns, warmup=index < steps.get("warmup_steps", 0),
                 slow=index in slow, slow_reason=reasons.get(index, ""))
            for index, time_ns in enumerate(steps.get("time_ns", []))]

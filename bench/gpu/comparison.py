"""Compares utlz's report of a run with what the workload and torch.profiler know of it."""

import collections

# Parts of names by which the kernels of planted_copies.py are found among PyTorch's own.
PLANTED_KERNELS = {"kernel_read_write": "_add<float>", "kernel_write": "FillFunctor<int>"}


def relative(measured, known):
    """Relative error, or None where either is unknown."""
    if measured is None or not known:
        return None
    return measured / known - 1


def launches_by_name(summary):
    counts = collections.Counter()
    for kernel in summary.get("kernels", []):
        counts[squeezed(kernel.get("name", ""))] += kernel.get("launches", 0)
    return counts


def squeezed(name):
    """Demanglers differ in spaces alone."""
    return name.replace(" ", "")


def compare_counts(summary, counts):
    """Launches against torch.profiler's: totals, and the names that differ."""
    ours = launches_by_name(summary)
    row = {"launches": sum(ours.values()), "launches_known": counts["kernel_launches"]}
    theirs = collections.Counter()
    for name, launches in counts.get("kernels", {}).items():
        theirs[squeezed(name)] += launches
    if theirs:
        different = {name: [ours[name], theirs[name]] for name in ours.keys() | theirs.keys()
                     if ours[name] != theirs[name]}
        row["names_that_differ"] = dict(sorted(different.items())[:10])
        row["names_that_differ_count"] = len(different)
    if "copies" in counts:
        row["copies"] = sum(copy.get("copies", 0) for copy in summary.get("copies", []))
        row["copies_known"] = sum(counts["copies"].values())
    return row


NORMAL_95 = 1.959964


def total_of(kernels, field):
    """Sum of a field. None where one kernel lacks it, since a part would pass for the whole, and where
    it may be nothing: then a report says "less than"."""
    values = [kernel.get(field) for kernel in kernels]
    if not values or None in values:
        return None
    total = sum(values)
    half_width = NORMAL_95 * sum(kernel.get(f"{field}_error", 0) for kernel in kernels)
    return total if total > half_width or not total else None


def compare_kernels(summary, expected):
    """Kernels of known work, found by a part of their name."""
    rows = {}
    for part, known in expected.items():
        kernels = [kernel for kernel in summary.get("kernels", [])
                   if part in kernel.get("name", "")]
        row = {"launches": sum(kernel.get("launches", 0) for kernel in kernels),
               "launches_known": known.get("launches")}
        for field in ("flops", "dram_read_bytes", "dram_write_bytes"):
            # Of nothing there is no relative error.
            if known.get(field):
                row[f"{field}_error"] = relative(total_of(kernels, field), known[field])
        rows[part] = row
    return rows


# Products of doubles run on tensor cores where a GPU has those for them.
SAME_PRODUCTS = {"fp64_tensor": "fp64"}


def compare_flops_by_type(summary, expected):
    """A product's FLOPs are all those of its kernel, whose type is that of most of them."""
    measured = collections.Counter()
    for kernel in summary.get("kernels", []):
        entries = kernel.get("flops_by_type", [])
        if entries:
            most = max(entries, key=lambda entry: entry.get("flops", 0))["data_type"]
            measured[SAME_PRODUCTS.get(most, most)] += kernel.get("flops", 0)
    return {data_type: {"flops": measured.get(data_type), "flops_known": known,
                        "flops_error": relative(measured.get(data_type), known)}
            for data_type, known in expected.items()}


def flops_of_products(summary, steps):
    """Of XLA's matrix products that every step launched; what it tried out before is none of them."""
    return total_of([kernel for kernel in summary.get("kernels", [])
                     if "gemm_fusion" in kernel.get("name", "") and kernel["launches"] >= steps],
                    "flops")


def compare_expected(summary, expected):
    """Everything that the workload said beforehand and that a report can be held to."""
    if "kernels" in expected:
        return compare_kernels(summary, expected["kernels"])
    if "flops_by_type" in expected:
        return compare_flops_by_type(summary, expected["flops_by_type"])
    if "gemm_flops_per_step" in expected:
        known = expected["gemm_flops_per_step"] * expected["steps"]
        return {"products": {"flops_error": relative(flops_of_products(summary, expected["steps"]),
                                                     known)}}
    planted = {PLANTED_KERNELS[operation]: expected[operation]
               for operation in PLANTED_KERNELS if operation in expected}
    return compare_kernels(summary, planted)


def resumed(summary, kernels_after):
    """Whether tracing went on after another profiler was done: half of what ran then was traced,
    which is far more than what ran before it."""
    traced = sum(kernel.get("launches_traced", 0) for kernel in summary.get("kernels", []))
    return traced >= kernels_after / 2


def times_lie_in_run(summary):
    """Another CUPTI client can change CUPTI's clock: no process may have worked outside the run."""
    run = summary.get("run", {})
    begin = run.get("start_time_ns", 0)
    end = begin + run.get("wall_ns", 0)
    return all(begin <= process.get("first_time_ns", begin)
               and process.get("last_time_ns", end) <= end
               for process in summary.get("processes", []))


def compare_run(profiled, reference):
    """One case's row. `reference` is the run alone: its exit status and output must be the same."""
    row = {"exit_status": profiled.exit_status, "exit_status_alone": reference.exit_status,
           "seconds": round(profiled.seconds, 1), "seconds_alone": round(reference.seconds, 1)}
    row["output_same"] = ((profiled.result or {}).get("output")
                          == (reference.result or {}).get("output"))
    if not profiled.summary:
        row["error"] = profiled.error_tail[-500:] or "no report"
        return row
    row["capture"] = profiled.summary.get("capture", {})
    row["times_lie_in_run"] = times_lie_in_run(profiled.summary)
    known = reference.result or {}
    if "counts" in known:
        row["counts"] = compare_counts(profiled.summary, known["counts"])
    expected = (profiled.result or {}).get("expected", {})
    row["known_work"] = compare_expected(profiled.summary, expected)
    if "kernel_launches" in expected:
        row["counts"] = compare_counts(profiled.summary,
                                       {"kernel_launches": expected["kernel_launches"]})
    if "complete" in (profiled.result or {}):
        row["torch_profiler_complete"] = profiled.result["complete"]
        row["resumed"] = resumed(profiled.summary, profiled.result["kernels_after"])
    return row


# Beyond this a figure of known work is wrong, whatever its stated error.
WORST_ERROR = 0.05


def errors_of_known_work(row):
    """(part, field, relative error), the last None where the report does not tell."""
    return [(part, field.removesuffix("_error"), error)
            for part, known in row.get("known_work", {}).items()
            for field, error in known.items() if field.endswith("_error")]


def not_told(row):
    """Known work that the report says nothing of, which nothing can be wrong about."""
    return [f"{part} {field}" for part, field, error in errors_of_known_work(row)
            if error is None]


def passed(row):
    """Whether everything that must be exact is, and no known work is plainly wrong."""
    counts = row.get("counts", {})
    return ("error" not in row and row["exit_status"] == row["exit_status_alone"]
            and row["output_same"] and counts.get("launches") == counts.get("launches_known")
            and row.get("times_lie_in_run", True)
            and row.get("torch_profiler_complete", True) and row.get("resumed", True)
            and all(known.get("launches") == known.get("launches_known")
                    for known in row.get("known_work", {}).values())
            and all(error is None or abs(error) <= WORST_ERROR
                    for _, _, error in errors_of_known_work(row)))

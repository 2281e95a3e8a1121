"""Reads utlz profiles: what the kernels and steps of a GPU job did, as records and as tables.

    import utlz
    profile = utlz.load("run.utlz")
    for kernel in profile.kernels[:5]:
        print(kernel.short_name, kernel.time_ns, kernel.dram_bytes)
    profile.kernel_frame()      # the same as a pandas DataFrame, where pandas is installed

In a notebook, `profile` as the last line of a cell shows the HTML report.
"""

from utlz._profile import Profile, ReportError, load
from utlz._records import Family, Kernel, Step, WorkByType

__all__ = ["Family", "Kernel", "Profile", "ReportError", "Step", "WorkByType", "load"]
__version__ = "0.1.0"

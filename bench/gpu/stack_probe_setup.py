"""What the measurements need: the copies of libcupti here, the library, the empty kernel."""

import glob
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Copies of libcupti without these are too old for the probe.
NEEDED_OF_CUPTI = (b"\0cuptiGetGraphNodeId\0", b"\0cuptiGetGraphId\0")


def has_what_is_needed(path):
    """By the names in the file: loading it would change what is measured."""
    content = pathlib.Path(path).read_bytes()
    return all(name in content for name in NEEDED_OF_CUPTI)


def copies_of_cupti():
    """PyTorch's first, then Triton's, then others, each once."""
    patterns = ["/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.1?",
                "/usr/local/cuda*/targets/*/lib/libcupti.so.1?",
                "/usr/local/cuda*/lib*/libcupti.so.1?",
                "/usr/lib/x86_64-linux-gnu/libcupti.so.1?",
                "/opt/nvidia/nsight-compute/*/**/libcupti.so*",
                "/usr/local/cuda*/nsight-compute*/**/libcupti.so*",
                "/usr/lib/nsight-compute/**/libcupti.so*"]
    for path in [pathlib.Path(entry) for entry in sys.path if entry.endswith("-packages")]:
        patterns = [f"{path}/nvidia/*/lib/libcupti.so.1?",
                    f"{path}/triton/backends/nvidia/lib/cupti/libcupti.so*"] + patterns
    found, sizes = [], set()
    for pattern in patterns:
        for path in sorted(glob.glob(pattern, recursive=True)):
            size = os.stat(path).st_size
            if size not in sizes and has_what_is_needed(path):
                sizes.add(size)
                found.append(os.path.realpath(path))
    return found


def compile_probe(output):
    library = output / "libstack_probe.so"
    subprocess.run(["gcc", "-O2", "-fno-omit-frame-pointer", "-shared", "-fPIC", "-o", library,
                    HERE / "stack_probe.c", "-ldl", "-lpthread"], check=True)
    return library


def compile_kernel(output):
    """The empty kernel as machine code, where nvcc is here; else the driver compiles PTX."""
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        return ""
    source, cubin = output / "empty.cu", output / "empty.cubin"
    source.write_text('extern "C" __global__ void empty() {}\n', encoding="utf-8")
    done = subprocess.run([nvcc, "-arch=native", "-cubin", "-o", cubin, source], check=False)
    if done.returncode != 0:
        done = subprocess.run([nvcc, "-arch=sm_90", "-cubin", "-o", cubin, source], check=False)
    return str(cubin) if done.returncode == 0 else ""

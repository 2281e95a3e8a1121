"""Programs of CUDA C++ that the measurements here build for themselves."""

import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def compiler():
    """nvcc, or None."""
    return shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def build(source, program, *options):
    """For the GPU at hand. Does nothing where the program is there already."""
    if not pathlib.Path(program).exists():
        subprocess.run([compiler(), "-O2", "-std=c++17", "-arch=native", "-cudart", "static", "-o",
                        str(program), str(source), *options], check=True)
    return pathlib.Path(program).resolve()

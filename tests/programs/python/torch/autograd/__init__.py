"""Nodes and what evaluates them, from a library that stands in for libtorch_cpu.so."""

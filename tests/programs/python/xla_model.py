"""A training step as XLA runs it, on the fake GPU: each instruction in a range of NVTX.

    xla_model.py STEPS [graph]

XLA registers an instruction's title, its text and the lines that it comes from when it compiles.
With `graph` it builds a CUDA graph when it first runs the program, and launches that ever after.
UTLZ_NVTX_LIBRARY names the library that calls NVTX. Prints what each kernel was launched for, in the
order in which they run.
"""
import ctypes
import json
import os
import sys
import time

nvtx = ctypes.CDLL(os.environ["UTLZ_NVTX_LIBRARY"])
nvtx.nvtx_domain.restype = nvtx.nvtx_string.restype = ctypes.c_void_p
DOMAIN = ctypes.c_void_p(nvtx.nvtx_domain(b"TSL"))

from torch.nn.functional import gpu  # pylint: disable=wrong-import-position

MODEL = "/home/me/model.py"
TRAIN = "/home/me/train.py"
# kernel, operation, lines from the outermost caller on; layer and line that it belongs to, and pass
INSTRUCTIONS = (
    ("embed", "jit(step)/jvp(Model)/embed/take",
     ((TRAIN, 40, "step"), (MODEL, 30, "Model.__call__")), "embed", "model.py:30 Model.__call__", ""),
    ("gemm", "jit(step)/jvp(Model)/block_0/mlp/dot_general",
     ((TRAIN, 40, "step"), (MODEL, 31, "Model.__call__"), (MODEL, 12, "Block.__call__"),
      (MODEL, 5, "Mlp.__call__")),
     "block_0.mlp", "model.py:5 Mlp.__call__", ""),
    ("gemm", "jit(step)/jvp(Model)/block_1/mlp/dot_general",
     ((TRAIN, 40, "step"), (MODEL, 31, "Model.__call__"), (MODEL, 12, "Block.__call__"),
      (MODEL, 5, "Mlp.__call__")),
     "block_1.mlp", "model.py:5 Mlp.__call__", ""),
    ("gradient", "jit(step)/transpose(jvp(Model))/block_1/mlp/dot_general",
     ((TRAIN, 40, "step"), (MODEL, 31, "Model.__call__"), (MODEL, 12, "Block.__call__"),
      (MODEL, 5, "Mlp.__call__")),
     "block_1.mlp", "model.py:5 Mlp.__call__", "backward"),
    ("adam", "jit(step)/sub", ((TRAIN, 44, "step.<locals>.<lambda>"),),
     None, "train.py:44 step.<locals>.<lambda>", ""),
)


def push(title):
    nvtx.nvtx_push(DOMAIN, title)


def pop():
    nvtx.nvtx_pop(DOMAIN)


def register(text):
    return ctypes.c_void_p(nvtx.nvtx_string(DOMAIN, text.encode()))


def text_of(lines):
    text = "\n"
    for depth, (file, line, function) in enumerate(lines, 1):
        function = function.replace("<", "&lt;").replace(">", "&gt;")
        text += f"{'-' * depth} {file}:{line}:5[{function}]\n"
    return text


def compile_program():
    program = register("XlaModule:#hlo_module=jit_step,program_id=11#")
    register("jit_step")
    titles = []
    for number, (kernel, operation, lines, *_) in enumerate(INSTRUCTIONS):
        name = f"{kernel}_fusion.{number}"
        titles.append(register(f"Thunk:#name={operation},hlo_op={name}#"))
        register(f'{name} = f32[8]{{0}} fusion(p), metadata={{op_name="{operation}"}}')
        register(text_of(lines))
        register("\ncalled {\n}")
    return program, titles


class KernelNode(ctypes.Structure):
    _fields_ = [("function", ctypes.c_void_p), ("grid", ctypes.c_uint * 3),
                ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("parameters", ctypes.c_void_p), ("extra", ctypes.c_void_p),
                ("kernel", ctypes.c_void_p), ("context", ctypes.c_void_p)]


def build_graph(titles):
    graph, executable, node = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    gpu.check(gpu.cuda.cuGraphCreate(ctypes.byref(graph), 0))
    for title, (kernel, *_) in zip(titles, INSTRUCTIONS):
        parameters = KernelNode(gpu.functions[kernel], (4, 1, 1), (64, 1, 1), 0)
        before = (ctypes.c_void_p * 1)(node.value)
        push(title)
        gpu.check(gpu.cuda.cuGraphAddKernelNode_v2(
            ctypes.byref(node), graph, before, ctypes.c_size_t(1 if node.value else 0),
            ctypes.byref(parameters)))
        pop()
    gpu.check(gpu.cuda.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph,
                                                   ctypes.c_ulonglong(0)))
    return executable


def step(program, titles, graph):
    """Returns the graph, if the program is run by one."""
    push(program)
    if graph is None:
        for title, (kernel, *_) in zip(titles, INSTRUCTIONS):
            push(title)
            gpu.launch(kernel)
            pop()
    else:
        graph = graph or build_graph(titles)
        nvtx.nvtx_push_text(DOMAIN, b"Thunk:#hlo_op=command_buffer#")
        gpu.check(gpu.cuda.cuGraphLaunch(graph, gpu.stream))
        gpu.launches += len(titles)
        pop()
    pop()
    gpu.synchronize()
    return graph


def main():
    steps = int(sys.argv[1])
    graph = ctypes.c_void_p() if sys.argv[2:] == ["graph"] else None
    program, titles = compile_program()
    for _ in range(steps):
        graph = step(program, titles, graph)
        time.sleep(0.001)
    print(json.dumps({"launches": gpu.launches, "kernels": {}, "steps": steps,
                      "in_order": [[kernel, layer, line, pass_]
                                   for kernel, _, _, layer, line, pass_ in INSTRUCTIONS]}))


main()

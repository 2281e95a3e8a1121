"""libstack_probe.so, made of stack_probe.c: its tables, and what it has kept."""

import ctypes
import platform
import sys

WALK, HASH_MODULES, HASH_LOCALS, KEEP, NATIVE, SEQUENCE = 1, 2, 4, 8, 16, 32
CALLBACKS, LAUNCHES, NODES, RECORDS, CODES, WALKS, HITS, MISSES = range(8)
CODE_TABLE, WALK_NS, WALK_FRAMES, FRAMES, RETURNS = 4, 5, 6, 7, 8


class Frame(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint64), ("first_local", ctypes.c_uint64),
                ("offset", ctypes.c_int32), ("owner", ctypes.c_uint8),
                ("is_cell", ctypes.c_uint8), ("has_local", ctypes.c_uint8),
                ("unused", ctypes.c_uint8)]


class Launch(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("time_ns", "sequence", "node",
                                                     "node_sequence")] + [
        (name, ctypes.c_uint32) for name in
        ("domain", "id", "correlation_id", "thread", "has_python", "frames", "first_frame",
         "returns", "first_return", "native_end", "native_ns")] + [("symbol", ctypes.c_char * 100)]


class Node(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint64), ("original_id", ctypes.c_uint64)] + [
        (name, ctypes.c_uint32) for name in
        ("cloned", "graph_id", "original_graph_id", "type", "thread", "has_python", "frames",
         "first_frame")]


class Record(ctypes.Structure):
    _fields_ = [("graph_node_id", ctypes.c_uint64), ("start", ctypes.c_uint64),
                ("end", ctypes.c_uint64), ("kind", ctypes.c_uint32),
                ("correlation_id", ctypes.c_uint32), ("graph_id", ctypes.c_uint32),
                ("unused", ctypes.c_uint32), ("name", ctypes.c_char * 100)]


class Code(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint64), ("first_line", ctypes.c_int32),
                ("line_table_bytes", ctypes.c_uint32), ("file", ctypes.c_char * 256),
                ("name", ctypes.c_char * 128), ("line_table", ctypes.c_uint8 * 16384)]

TABLES = {LAUNCHES: Launch, NODES: Node, RECORDS: Record, CODE_TABLE: Code}


class Probe:
    """The library, and what it has kept."""

    def __init__(self, arguments):
        self.library = ctypes.CDLL(str(arguments.library))
        self.library.probe_table.restype = ctypes.c_void_p
        self.library.probe_count.restype = ctypes.c_ulong
        self.library.probe_clock_ns.restype = ctypes.c_uint64
        self.cupti_path = arguments.cupti
        self.code_cache = {}
        if self.library.probe_open() != 0:
            raise MemoryError("the tables of the probe")

    def open_cupti(self):
        """The copy that PyTorch has loaded, where it has: never two in one process."""
        with open("/proc/self/maps", encoding="utf-8") as maps:
            loaded = [line.split()[-1] for line in maps if "/libcupti.so" in line]
        path = loaded[0] if loaded else self.cupti_path
        self.check(f"dlopen of {path}", self.library.probe_open_cupti(path.encode()))
        return self.library.probe_cupti_version()

    def open_python(self):
        if sys.version_info[:2] != (3, 12) or platform.machine() != "x86_64":
            raise RuntimeError("the walk knows CPython 3.12 on x86-64 only")
        codes = [0, 0]
        if "torch" in sys.modules:
            module = sys.modules["torch"].nn.Module
            codes = [id(function.__code__) for function in
                     (getattr(module, "_wrapped_call_impl", module._call_impl), module._call_impl)]
        self.check("CPython's symbols", self.library.probe_open_python(
            *(ctypes.c_uint64(code) for code in codes)))

    @staticmethod
    def check(what, status):
        if status != 0:
            raise RuntimeError(f"{what}: {status}")

    def subscribe(self, empty=False):
        self.check("cuptiSubscribe", self.library.probe_subscribe(int(empty)))

    def unsubscribe(self):
        self.check("cuptiUnsubscribe", self.library.probe_unsubscribe())

    def launches_on(self, on, runtime=False):
        self.check("cuptiEnableCallback of driver launches",
                   self.library.probe_driver_callbacks(int(on)))
        if runtime:
            self.check("cuptiEnableCallback of runtime launches",
                       self.library.probe_runtime_callbacks(int(on)))

    def activity(self, on):
        self.check("cuptiActivityEnable", self.library.probe_activity(int(on)))
        if not on:
            self.check("cuptiActivityFlushAll", self.library.probe_flush())

    def mode(self, mode):
        self.library.probe_mode(mode)

    def clear(self):
        self.library.probe_clear()

    def count(self, what):
        return self.library.probe_count(what)

    def rows(self, what):
        table = TABLES[what]
        count = self.count(CODES if what == CODE_TABLE else what)
        return (table * count).from_address(self.library.probe_table(what)) if count else []

    def frames_of(self, row):
        base = self.library.probe_table(FRAMES) + row.first_frame * ctypes.sizeof(Frame)
        return (Frame * row.frames).from_address(base) if row.frames else []

    def returns_of(self, launch):
        base = self.library.probe_table(RETURNS) + launch.first_return * 8
        return (ctypes.c_uint64 * launch.returns).from_address(base) if launch.returns else []

    def codes(self):
        for code in self.rows(CODE_TABLE):
            if code.code not in self.code_cache:
                table = bytes(code.line_table[:code.line_table_bytes])
                self.code_cache[code.code] = (code.file.decode(), code.name.decode(),
                                              lines_of(code.first_line, table))
        return self.code_cache

    def place(self, frame):
        """File, line and function of a frame."""
        file, name, lines = self.code_cache.get(frame.code) or self.codes().get(
            frame.code, ("?", "?", []))
        line = next((line for begin, end, line in lines if begin <= frame.offset < end), None)
        return file, line, name

    def walks(self):
        count = self.count(WALKS)
        if not count:
            return [], []
        return (list((ctypes.c_uint32 * count).from_address(self.library.probe_table(WALK_NS))),
                list((ctypes.c_uint16 * count).from_address(self.library.probe_table(WALK_FRAMES))))

    def where(self, address, seen={}):
        if address not in seen:
            library, function = (ctypes.create_string_buffer(200) for _ in range(2))
            known = self.library.probe_where(ctypes.c_uint64(address), library, function, 200) == 0
            seen[address] = ((library.value.decode(), function.value.decode()) if known
                             else ("?", ""))
        return seen[address]


def lines_of(first_line, table):
    """(begin, end, line) of each run of instructions, decoded by Python itself."""
    def empty():
        pass
    try:
        return list(empty.__code__.replace(co_firstlineno=first_line,
                                           co_linetable=table).co_lines())
    except (ValueError, IndexError):
        return []

"""Paths of modules, read from the memory of a real interpreter.

    modules_test.py LIBRARY [unittest's arguments]

The modules are those of the stand-in for PyTorch. LIBRARY is frames_probe.cc's.
"""
import ctypes
import pathlib
import random
import sys
import threading
import unittest

from frames_probe import probe

TESTS = pathlib.Path(__file__).resolve().parent.parent.parent
# Only its chain of calls: the whole of it wants a driver.
sys.path.insert(0, str(TESTS / "programs" / "python" / "torch" / "nn" / "modules"))
from module import Module, ModuleList, Sequential

probe.frames_probe_path.restype = probe.frames_probe_class_name.restype = ctypes.c_char_p
probe.frames_probe_module_path.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p]
probe.frames_probe_outermost.argtypes = [ctypes.c_uint64]
probe.frames_probe_outermost.restype = ctypes.c_uint64
probe.frames_probe_class.argtypes = [ctypes.c_uint64, ctypes.c_uint32]


def find(root, module, around=b""):
    """The path, and whether it is the one of `_modules`."""
    known = probe.frames_probe_module_path(id(root), id(module), around)
    return probe.frames_probe_path().decode(), bool(known)


class Leaf(Module):

    def __init__(self, **attributes):
        super().__init__()
        for name, value in attributes.items():
            setattr(self, name, value)


def named_modules(module, path=""):
    yield path, module
    for name, inner in module._modules.items():
        yield from named_modules(inner, f"{path}.{name}" if path else name)


class Paths(unittest.TestCase):

    def setUp(self):
        probe.frames_probe_forget_modules()

    def check(self, root):
        for path, module in named_modules(root):
            self.assertEqual(find(root, module), (path, True))

    def test_model(self):
        block = lambda: Sequential(Leaf(bias=1), Leaf(), Leaf(kind="relu"))
        root = Leaf(embed=Leaf(), blocks=ModuleList(block() for _ in range(200)))
        root.last = Leaf(inner=Leaf(inner=Leaf()))
        self.check(root)

    def test_names_that_are_not_ascii(self):
        root = Leaf()
        root.add_module("größe", Leaf())
        root.add_module("層", Leaf())
        self.check(root)

    def test_classes_of_other_shapes(self):
        class Slotted(Leaf):
            __slots__ = ("extra",)

        class Many(Leaf):
            pass

        many = Many(**{f"attribute_{i}": i for i in range(100)})
        many.inner = Leaf()
        root = Leaf(slotted=Slotted(inner=Leaf()), many=many)
        del many.attribute_50
        root.gone = Leaf()
        del root._modules["gone"]
        root._modules["none"] = None
        self.assertEqual(find(root, many.inner), ("many.inner", True))
        self.assertEqual(find(root, root.slotted.inner), ("slotted.inner", True))

    def test_modules_that_come_later(self):
        root = Leaf(first=Leaf())
        self.check(root)
        root.second = Leaf()
        self.assertEqual(find(root, root.second)[1], False)
        probe.frames_probe_forget_modules()
        self.check(root)

    def test_a_module_that_was_called_before_its_model(self):
        part = Leaf(inner=Leaf(deep=Leaf()))
        before = probe.frames_probe_adoptions()
        self.assertEqual(find(part, part.inner.deep), ("inner.deep", True))
        self.assertEqual(probe.frames_probe_outermost(id(part.inner.deep)), id(part))
        root = Leaf(first=Leaf(), part=part)
        self.check(root)
        self.assertEqual(find(root, part.inner.deep), ("part.inner.deep", True))
        self.assertEqual(probe.frames_probe_adoptions(), before + 1, "once")
        self.assertEqual(probe.frames_probe_outermost(id(part.inner.deep)), id(root))
        # By itself it is what it was.
        self.assertEqual(find(part, part), ("", True))
        self.assertEqual(find(part, part.inner.deep), ("inner.deep", True))
        # One that is in two models has the path of the first.
        other = Leaf(again=part)
        self.assertEqual(find(other, part.inner)[1], False)
        self.assertEqual(find(root, part.inner), ("part.inner", True))
        self.assertEqual(probe.frames_probe_adoptions(), before + 1)

    def test_a_part_of_a_model_that_was_known_in_an_earlier_window(self):
        root = Leaf(part=Leaf(inner=Leaf()))
        alone = Leaf()
        self.check(root)
        for _ in range(3):
            probe.frames_probe_forget_modules()
            self.assertEqual(probe.frames_probe_outermost(id(alone)), id(alone))
        probe.frames_probe_forget_modules()
        self.assertEqual(probe.frames_probe_outermost(id(root.part.inner)), id(root))
        self.assertEqual(find(root, root.part.inner), ("part.inner", True))
        # It is in another model now, and the first one is gone.
        part = root.part
        del root
        probe.frames_probe_forget_modules()
        self.assertEqual(probe.frames_probe_outermost(id(part.inner)), id(part.inner))
        other = Leaf(again=part)
        self.check(other)
        self.assertEqual(probe.frames_probe_outermost(id(part.inner)), id(other))

    def test_a_model_that_is_in_itself_is_not_adopted(self):
        part = Leaf(inner=Leaf())
        self.assertEqual(find(part, part.inner), ("inner", True))
        part.inner.back = part
        root = Leaf(part=part)
        before = probe.frames_probe_adoptions()
        self.assertEqual(find(root, part.inner), ("part.inner", True))
        self.assertEqual(probe.frames_probe_adoptions(), before + 1)
        probe.frames_probe_forget_modules()
        self.assertEqual(find(part, part.inner), ("inner", True))
        self.assertEqual(probe.frames_probe_outermost(id(part.inner)), id(part), "this ends")

    def test_outside_of_the_model(self):
        class Stray(Module):
            pass

        root, strays = Leaf(inner=Leaf()), [Stray(), Stray()]
        self.assertEqual(find(root, strays[0], b"inner"), ("inner.Stray#1", False))
        self.assertEqual(find(root, strays[1], b"inner"), ("inner.Stray#2", False))
        self.assertEqual(find(root, strays[0]), ("Stray#1", False))

    def test_cycles_end(self):
        root = Leaf(inner=Leaf())
        root.inner.back = root
        self.assertEqual(find(root, root.inner), ("inner", True))

    def test_what_is_no_module(self):
        for thing in (1, "text", {"_modules": 3}, [], object(), Leaf, None):
            find(thing, Leaf())
        odd = Leaf()
        odd.__dict__["_modules"] = [1, 2]
        find(odd, Leaf())
        for address in (0, 8, 1 << 20, (1 << 47) - 8, 2**64 - 8):
            probe.frames_probe_module_path(address, address + 16, b"")

    def test_class_names(self):
        leaf = Leaf()
        self.assertEqual(probe.frames_probe_class(id(leaf), 64), 1)
        self.assertEqual(probe.frames_probe_class_name(), b"Leaf")
        self.assertEqual(probe.frames_probe_class(id(leaf), 3), 1)
        self.assertEqual(probe.frames_probe_class_name(), b"Le")
        self.assertEqual(probe.frames_probe_class(1 << 20, 64), 0)

    def test_while_the_model_changes(self):
        root, stopping = Leaf(kept=Leaf()), threading.Event()

        def change():
            choice = random.Random(1)
            while not stopping.is_set():
                name = f"module_{choice.randrange(50)}"
                if name in root._modules:
                    del root._modules[name]
                else:
                    setattr(root, name, Leaf(inner=Leaf()))

        thread = threading.Thread(target=change)
        thread.start()
        for _ in range(300):
            probe.frames_probe_forget_modules()
            find(root, root.kept)
        stopping.set()
        thread.join()
        probe.frames_probe_forget_modules()
        self.assertEqual(find(root, root.kept), ("kept", True))


if __name__ == "__main__":
    unittest.main()

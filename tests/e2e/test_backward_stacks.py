"""Whose backward passes are: those of a stand-in for PyTorch's autograd."""

import pathlib
import shutil
import unittest

from harness import PROGRAMS
from stack_test import OPTIONS, PYTHON_PROGRAMS, VERSIONS, StackTest, interpreter


class BackwardStacksTest(StackTest):

    def run_autograd(self, version, *steps, library="torch", scenario=()):
        path = pathlib.Path(PROGRAMS) / library / "lib" / "libtorch_cpu.so"
        environment = self.environment(*scenario, UTLZ_TORCH_LIBRARY=str(path))
        run = self.run_command([interpreter(version), str(PYTHON_PROGRAMS / "autograd_model.py"),
                                *(steps or ("24",))], options=OPTIONS, environment=environment)
        self.assertEqual(run.status, 0, run.stderr)
        return run, self.report(run)

    def test_backward_belongs_to_its_forward(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                run, report = self.run_autograd(version)
                launches = run.told[0]["expected"]
                kernels = self.owned_kernels(run)
                self.assertEqual([name for name, *_ in kernels], [name for name, *_ in launches])
                compared = set()
                for index, (kernel, expected) in enumerate(zip(kernels, launches)):
                    _, layer, line, launch_pass, inferred = expected
                    if layer == "optimizer":
                        continue
                    # The agent comes to know modules, models and the thread's node while it runs.
                    if index >= len(launches) / 2:
                        compared.add(launch_pass)
                        self.assertEqual(kernel[3:], [launch_pass, inferred], (index, kernel, expected))
                        self.assertEqual(kernel[1], layer, (index, kernel, expected))
                        if line is not None:
                            self.assertEqual(kernel[2], line, (index, kernel, expected))
                self.assertEqual(compared, {None, "backward", "recomputation"})
                owners = report["owners"]
                self.assert_sums(owners)
                self.assertLess(owners["ownerless_share"], 0.05)
                self.assertGreater(owners["backward_share"], 0.3)
                self.assertGreater(owners["recomputation_share"], 0.05)
                self.assertGreater(owners["inferred_share"], 0.1)
                self.assertNotIn("note", owners)
                self.assert_passes(owners)
                text = self.utlz("report", "--by", "layer", str(run.profile)).stdout
                self.assertIn("are backward passes", " ".join(text.split()))
                self.assertRegex(text, r"passes of layers +time +forward +backward +recomputed")

    def test_a_part_that_was_called_before_its_model(self):
        # Alone for longer than the agent keeps records back: it has numbers of these stacks then.
        run, _ = self.run_autograd(VERSIONS[0], "24", "90")
        launches, kernels = run.told[0]["expected"], self.owned_kernels(run)
        self.assertEqual(len(kernels), len(launches))
        compared = set()
        # What was launched in the part's recomputation then is launched from the same frames now,
        # and it and its backward pass have the path in the model.
        last = slice(-len(launches) // 4, None)
        for kernel, (_, layer, _, launch_pass, _) in zip(kernels[last], launches[last]):
            if not layer.startswith("first"):
                continue
            compared.add(launch_pass)
            self.assertEqual([kernel[1], kernel[3]], [layer, launch_pass])
        self.assertEqual(compared, {None, "backward", "recomputation"})

    def assert_passes(self, owners):
        """A layer's passes are those of the layers in it and its own."""
        rows = owners["layers"]
        for index, row in enumerate(rows):
            inside = [one for one in rows if one.get("parent") == index]
            for field in ("backward_time_ns", "recomputation_time_ns"):
                self.assertEqual(row.get(field, 0), row.get(f"own_{field}", 0)
                                 + sum(one.get(field, 0) for one in inside))
        self.assertIn("(optimizer Adam)", {row["name"] for row in rows})
        recomputed = {row["name"] for row in rows if row.get("recomputation_time_ns", 0) > 0}
        self.assertIn("first.mlp.1", recomputed)
        self.assertNotIn("second.mlp.1", recomputed)

    def test_threads_that_keep_the_number_of_a_call_have_no_stacks(self):
        run, owners = self.run_autograd(VERSIONS[0], scenario=("kept_numbers_after=600",))
        launches = run.told[0]["expected"]
        without = 0
        for index, (kernel, expected) in enumerate(zip(self.owned_kernels(run), launches)):
            name, layer, line, _, inferred = kernel
            without += line is None
            if layer is None or inferred:
                continue
            self.assertEqual(name, expected[0])
            paths = [expected[1]]
            if index < len(launches) / 2:
                # The agent may not have met the model yet. A part that is recomputed is known
                # without it: its own path is its class.
                paths.append(expected[1].removeprefix("first").removeprefix(".") or "Block")
            self.assertIn(layer, paths, (index, kernel, expected))
        self.assertGreater(without, len(launches) / 10)
        self.assert_sums(owners["owners"])

    def test_other_autograd_has_a_reason(self):
        run, report = self.run_autograd(VERSIONS[0], "3", library="torch_without_nodes")
        self.assertIn("backward launches without an owner", report["owners"]["note"])
        self.assertIn("elsewhere", report["owners"]["note"])
        self.assertGreater(report["owners"]["ownerless_share"], 0.1)
        self.assertNotIn("backward", {kernel[3] for kernel in self.owned_kernels(run)})
        newer = self.folder / "newer"
        shutil.copytree(pathlib.Path(PROGRAMS) / "torch", newer)
        for text in ("__version__ = '2.12.0'\n", "__version__ = '1.13.1'\n", "version = 2\n", ""):
            (newer / "version.py").write_text(text)
            _, report = self.run_autograd(VERSIONS[0], "3", library=newer)
            self.assertIn("no release from 2.0 to 2.11", report["owners"]["note"])
            self.assertGreater(report["owners"]["ownerless_share"], 0.1)


if __name__ == "__main__":
    unittest.main()

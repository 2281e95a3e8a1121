"""Whose kernels of compiled programs are: by XLA's instructions and Inductor's files."""

import pathlib
import shutil
import unittest

from harness import PROGRAMS
from stack_test import OPTIONS, PYTHON_PROGRAMS, VERSIONS, StackTest, interpreter


class CompiledStacksTest(StackTest):

    def run_xla(self, version, *arguments, options=OPTIONS, **environment):
        library = pathlib.Path(PROGRAMS) / "libnvtx_calls.so"
        run = self.run_command([interpreter(version), str(PYTHON_PROGRAMS / "xla_model.py"),
                                *arguments], options=options,
                               environment=self.environment(UTLZ_NVTX_LIBRARY=str(library),
                                                            **environment))
        self.assertEqual(run.status, 0, run.stderr)
        [told] = run.told
        kernels = self.owned_kernels(run)
        self.assertEqual([kernel[0] for kernel in kernels],
                         [name for name, *_ in told["in_order"]] * told["steps"])
        return kernels, told, self.report(run)["owners"]

    def test_instructions_of_xla_have_layers_lines_and_operations(self):
        for options in (OPTIONS, (*OPTIONS, "--nvtx")):
            for arguments in ((), ("graph",)):
                with self.subTest(options=options, arguments=arguments):
                    kernels, told, owners = self.run_xla(VERSIONS[0], "30", *arguments,
                                                         options=options)
                    self.assert_sums(owners)
                    for kernel, expected in zip(kernels, told["in_order"] * told["steps"]):
                        self.assertEqual(kernel, [*expected[:3], expected[3] or None, False])
                    self.assertNotIn("note", owners)
                    self.assertEqual(owners["line_share"], 1)
                    operations = {row["name"]: row["launches"] for row in owners["operations"]}
                    self.assertEqual(operations, {"take": told["steps"], "sub": told["steps"],
                                                  "dot_general": 3 * told["steps"]})
                    layers = {row["name"]: row for row in owners["layers"]}
                    self.assertEqual(layers["block_1.mlp"]["module_class"], "Mlp")
                    self.assertEqual(layers["block_1.mlp"]["own_launches"], 2 * told["steps"])

    def test_another_tool_of_nvtx_keeps_its_place(self):
        kernels, _, owners = self.run_xla(VERSIONS[0], "10", NVTX_INJECTION64_PATH="/no/such.so")
        self.assertEqual({tuple(kernel[1:2]) for kernel in kernels}, {(None,)})
        self.assertEqual(owners["line_share"], 1)

    def run_compiled(self, version, steps):
        folder = self.folder / f"generated-{version}"
        folder.mkdir()
        path = pathlib.Path(PROGRAMS) / "torch" / "lib" / "libtorch_cpu.so"
        run = self.run_command([interpreter(version), str(PYTHON_PROGRAMS / "compiled_model.py"),
                                str(steps), str(folder)], options=OPTIONS,
                               environment=self.environment(UTLZ_TORCH_LIBRARY=str(path)))
        self.assertEqual(run.status, 0, run.stderr)
        return run, self.report(run)["owners"], folder

    def test_compiled_code_says_operations(self):
        steps = 60
        for version in VERSIONS:
            with self.subTest(version=version):
                run, owners, folder = self.run_compiled(version, steps)
                self.assert_sums(owners)
                operations = {(row["origin"], row["name"]): row for row in owners["operations"]}
                beside = {name: row["launches"] for (origin, name), row in operations.items()
                          if origin == "compiled_code"}
                self.assertAlmostEqual(beside["add + native_layer_norm"], steps)
                self.assertAlmostEqual(beside["mm"], 2 * steps, msg="forward and backward")
                self.assertAlmostEqual(beside["native_layer_norm_backward"], steps)
                self.assertAlmostEqual(operations["family", "gemm"]["launches"], steps,
                                       msg="no comment")
                # A person changes the line that calls the generated file.
                names = {row["name"] for row in owners["lines"] if row["time_share"] > 0.1}
                self.assertIn("compiled_model.py", " ".join(names))
                self.assertFalse([name for name in names if name.startswith("c")
                                  and not name.startswith("compiled_model")], names)
                [layer] = [row for row in owners["layers"] if row["name"] == "Model"]
                self.assertGreater(layer["own_backward_time_ns"], 0)
                self.assertGreater(layer["own_launches"], 4 * steps, "three forward, two backward")
                self.assertIn("beside the launches",
                              self.utlz("report", "--by", "op", str(run.profile)).stdout)
                shutil.rmtree(folder)
                again = self.utlz("report", "--recompute", "--by", "op", str(run.profile))
                self.assertIn("native_layer_norm_backward", again.stdout, "no file is opened here")


if __name__ == "__main__":
    unittest.main()

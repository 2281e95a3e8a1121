"""Lines and layers of eager programs, in each interpreter that is here, and where they are shown."""

import gzip
import json
import re
import unittest

from stack_test import OPTIONS, PYTHON_PROGRAMS, VERSIONS, StackTest, interpreter


class StacksTest(StackTest):

    def run_model(self, version, *arguments, options=OPTIONS, program="eager_model.py"):
        run = self.run_command([interpreter(version), str(PYTHON_PROGRAMS / program),
                                *arguments], options=options)
        self.assertEqual(run.status, 0, run.stderr)
        return run, self.report(run)

    def test_layers_and_lines(self):
        self.assertTrue(VERSIONS, "no interpreter of a supported version is here")
        for version in VERSIONS:
            with self.subTest(version=version):
                run, report = self.run_model(version, "80")
                owners = report["owners"]
                [told] = run.told
                self.assert_sums(owners)
                kernels_ns = sum(kernel["time_ns"] for kernel in report["kernels"])
                self.assertAlmostEqual(owners["time_ns"], kernels_ns, delta=len(report["kernels"]))
                self.assert_layers(owners, told)
                self.assert_lines(owners, told)
                # Until the agent has seen a call of a module, it does not know what calls them.
                self.assertGreater(owners["layer_share"], 0.5)
                self.assertGreater(owners["line_share"], 0.99)

    def assert_layers(self, owners, told):
        layers = {row["name"]: row for row in owners["layers"] if row["kind"] == "layer"}
        expected = {path or "Model": launches for path, launches in told["layers"].items()}
        self.assertLessEqual(set(expected), set(layers))
        for path, launches in expected.items():
            got = layers[path]["own_launches"]
            self.assertLessEqual(got, launches, path)
            self.assertGreater(got, 0.5 * launches, path)
        self.assertEqual(layers["blocks.1"]["module_class"], "Block")
        self.assertEqual({row["model"] for row in layers.values()}, {"Model"})
        # Containers that are never called have no class, and what is in them.
        self.assertNotIn("module_class", layers["blocks"])
        self.assertEqual(layers["blocks"]["own_launches"], 0)
        inside = [row for row in owners["layers"]
                  if row.get("parent") == owners["layers"].index(layers["blocks"])]
        self.assertEqual([row["name"] for row in inside], ["blocks.0", "blocks.1", "blocks.2"])
        self.assertEqual(sum(row["time_ns"] for row in inside), layers["blocks"]["time_ns"])
        [optimizer] = [row for row in owners["layers"] if row["kind"] == "optimizer"]
        self.assertGreater(optimizer["own_launches"], 0)
        repeated = {row["name"]: row for row in owners["repeated_layers"]}
        self.assertEqual(repeated["blocks.*.mlp"]["instances"], 3)
        self.assertEqual(repeated["blocks.*.mlp"]["time_ns"],
                         sum(layers[f"blocks.{i}.mlp"]["time_ns"] for i in range(3)))

    def assert_lines(self, owners, told):
        # The innermost frame that is not the framework's.
        lines = {f"{row['function']}:{row['line']}": row for row in owners["lines"]
                 if row["kind"] == "line"}
        self.assertEqual({place: row["launches"] for place, row in lines.items()}, told["lines"])
        self.assertTrue(all(row["file"].endswith("/eager_model.py") for row in lines.values()))
        # The data is loaded before the model's first kernel, after the optimizer's.
        waits = max(owners["lines"], key=lambda row: row["idle_before_ns"])
        self.assertEqual(waits["function"], "Model.forward")
        self.assertRegex(waits["idle_after"], r"eager_model\.py:\d+ main")

    def test_what_threads_are_in_while_the_gpu_waits(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                # Longer than a busy machine takes for the rest of a step.
                run, report = self.run_model(version, "60", "3", "40",
                                             options=(*OPTIONS, "--idle-stacks"))
                waits = max(report["owners"]["lines"], key=lambda row: row["idle_before_ns"])
                self.assertEqual(waits["function"], "Model.forward")
                # The longest wait of a step is the one for its data.
                self.assertRegex(waits["idle_frames"][0], r"^eager_model\.py:\d+ load_data$")
                self.assertAlmostEqual(sum(waits["idle_frame_ns"]), waits["sampled_idle_ns"], 0)
                self.assertGreater(waits["idle_frame_ns"][0], 0.5 * waits["sampled_idle_ns"])
                # Nearly all of it; a sum of parts is rounded.
                self.assertLess(waits["sampled_idle_ns"], waits["own_idle_before_ns"] + 1)
                text = self.utlz("report", "--by", "line", str(run.profile)).stdout
                self.assertRegex(text, r"\d % in eager_model\.py:\d+ load_data\n")
        _, report = self.run_model(VERSIONS[0], "20")
        self.assertFalse([row for row in report["owners"]["lines"] if "sampled_idle_ns" in row])

    def test_idle_stacks_need_stacks(self):
        refused = self.utlz("run", "--idle-stacks", "--", "true")
        self.assertEqual(refused.returncode, 125, refused.stderr)
        self.assertIn("add --stacks=auto", refused.stderr)

    def test_off_by_default(self):
        run, report = self.run_model(VERSIONS[0], "10",
                                     options=("--counters=none", "--overhead-budget=unlimited"))
        self.assertLessEqual(set(report["owners"]), {"time_ns", "operations"})
        text = self.utlz("report", "--by", "op", str(run.profile))
        self.assertIn("the family of kernels", text.stdout)
        text = self.utlz("report", "--by", "layer", str(run.profile))
        self.assertIn("No stacks of launches were recorded", text.stdout)

    def test_budget_is_kept(self):
        _, report = self.run_model(VERSIONS[0], "200",
                                   options=("--counters=none", "--stacks=auto"))
        self.assert_sums(report["owners"])

    def test_stacks_come_back_after_a_calibration(self):
        """It takes the subscription for a moment, in the one window that this program has."""
        _, report = self.run_model(VERSIONS[0], "500",
                                   options=("--stacks=auto", "--overhead-budget=unlimited"))
        self.assertGreater(report["capture"]["ranges"], 0, "there was no calibration")
        self.assertLess(report["owners"]["ownerless_share"], 0.2)

    def test_other_programs_have_a_reason(self):
        run = self.run_program("ending", options=OPTIONS)
        report = self.report(run)
        self.assertIn("no interpreter of Python", report["owners"]["note"])
        self.assertNotIn("layers", report["owners"])

    def test_another_subscriber_keeps_its_subscription(self):
        run, report = self.run_model(VERSIONS[0], program="subscriber.py")
        self.assertIn("another CUPTI client", report["owners"]["note"])
        self.assertNotIn("layers", report["owners"])
        self.assertEqual(sum(kernel["launches"] for kernel in report["kernels"]),
                         run.told[0]["launches"])

    def test_top_shows_layers_and_lines(self):
        run, report = self.run_model(VERSIONS[0], "80")
        # In real time, from its start to after its end.
        ticks = int(report["run"]["wall_ns"] / 0.5e9) + 3
        shown = self.utlz("top", "--replay", str(run.profile), "--json", "--interval=0.5",
                          f"--count={ticks}")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        [last] = json.loads(shown.stdout.splitlines()[-1])["runs"]
        self.assertNotIn("owners_reason", last)
        names = {layer["name"]: layer for layer in last["layers"]}
        repeated = {row["name"] for row in report["owners"]["repeated_layers"]
                    if row["own_launches"] > 0}
        self.assertLessEqual(set(names), repeated | {"(no stack)"})
        inside = [row for row in report["owners"]["layers"] if row["own_launches"] > 0 and
                  re.fullmatch(r"blocks\.\d+\.mlp\.\d+", row["name"])]
        self.assertEqual(names["blocks.*.mlp.*"]["instances"], len(inside))
        self.assertGreater(len(inside), 2)
        self.assertEqual(names["(optimizer Adam)"]["kind"], "optimizer")
        for rows in ("layers", "lines"):
            self.assertAlmostEqual(1, sum(row["time_share"] for row in last[rows]), places=3)
        self.assertLessEqual({line["name"] for line in last["lines"]},
                             {line["name"] for line in report["owners"]["lines"]} | {"(no line)"})

    def test_exports_carry_stacks(self):
        run, report = self.run_model(VERSIONS[0], "20")
        trace = self.folder / "trace.json"
        made = self.utlz("export", "--format", "chrome", "-o", str(trace), str(run.profile))
        self.assertEqual(made.returncode, 0, made.stderr)
        kernels = [event for event in json.loads(trace.read_text())["traceEvents"]
                   if event.get("cat") == "kernel"]
        self.assertEqual(len(kernels), run.told[0]["launches"])
        layers = {kernel["args"].get("layer") for kernel in kernels}
        self.assertIn("blocks.1.mlp.2", layers)
        self.assertTrue(all("eager_model.py:" in kernel["args"]["line"] for kernel in kernels))
        for options, seen in (((), str(PYTHON_PROGRAMS)), (("--no-paths",), None)):
            profile = self.folder / f"run{len(options)}.pb.gz"
            made = self.utlz("export", "--format", "pprof", *options, "-o", str(profile),
                             str(run.profile))
            self.assertEqual(made.returncode, 0, made.stderr)
            content = gzip.decompress(profile.read_bytes())
            self.assertIn(b"Block.forward", content)
            self.assertIn(b"blocks.1.mlp.2 (Linear)", content)
            self.assertEqual(str(PYTHON_PROGRAMS).encode() in content, seen is not None)

    def test_layers_are_compared(self):
        runs = []
        for steps in ("30", "60"):
            run, _ = self.run_model(VERSIONS[0], steps)
            runs.append(str(run.profile.rename(self.folder / f"{steps}.utlz")))
        # The text lists the largest changes: which layers these are differs from run to run.
        for by, layer in (("layer", r"blocks\.\*.* ×3 "), ("each-layer", r"blocks\.[012]")):
            difference = self.utlz("diff", "--by", by, "--all", *runs)
            self.assertEqual(difference.returncode, 0, difference.stderr)
            self.assertRegex(difference.stdout, r"\nLayers .*\n(?s:.*)\n  " + layer)
        compared = self.utlz("diff", "--format", "json", *runs)
        self.assertEqual(compared.returncode, 0, compared.stderr)
        object_ = json.loads(compared.stdout)
        self.assertIn("blocks.1.attn", [layer["name"] for layer in object_["layers"]])
        [layer] = [layer for layer in object_["layers"] if layer["name"] == "blocks.1"]
        self.assertEqual(layer["model"], "Model")

    def test_text_and_csv(self):
        run, _ = self.run_model(VERSIONS[0], "40")
        for by, words in (("layer", ["blocks.*.mlp ×3", "blocks", "HFU"]),
                          ("line", ["eager_model.py:", "idle: the time before it"]), ("op", ["gemm"])):
            text = self.utlz("report", "--by", by, "--top", "40", str(run.profile))
            self.assertEqual(text.returncode, 0, text.stderr)
            for word in words:
                self.assertIn(word, text.stdout)
            self.assertIn("has a line", text.stdout)
        table = self.utlz("report", "--by", "line", "--format", "csv", str(run.profile)).stdout
        self.assertIn(str(PYTHON_PROGRAMS / "eager_model.py"), table)
        table = self.utlz("report", "--by", "line", "--no-paths", "--format", "csv",
                          str(run.profile)).stdout
        self.assertNotIn(str(PYTHON_PROGRAMS), table)
        self.assertIn("eager_model.py:", table)


if __name__ == "__main__":
    unittest.main()

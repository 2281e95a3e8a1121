"""Whose kernels are: lines and layers of Python programs, in each interpreter that is here."""

import collections
import gzip
import json
import pathlib
import re
import shutil
import sys
import unittest

import written_frames
from attaching import AttachTest, Program
from harness import PROGRAMS, EndToEndTest

TESTS = pathlib.Path(__file__).resolve().parent.parent
PYTHON_PROGRAMS = TESTS / "programs" / "python"
sys.path.insert(0, str(TESTS / "unit" / "python_frames"))
from run_in_python import interpreter

VERSIONS = [version for version in ("3.11", "3.12", "3.13", "3.14") if interpreter(version)]
OPTIONS = ("--counters=none", "--stacks=auto", "--overhead-budget=unlimited")


class StacksTest(EndToEndTest):

    def run_model(self, version, *arguments, options=OPTIONS, program="eager_model.py"):
        run = self.run_command([interpreter(version), str(PYTHON_PROGRAMS / program),
                                *arguments], options=options)
        self.assertEqual(run.status, 0, run.stderr)
        return run, self.report(run)

    def assert_sums(self, owners):
        """Times of owners add up to the total, to the nanosecond."""
        for rows in {"layers", "repeated_layers", "lines"} & set(owners):
            self.assertEqual(sum(row["own_time_ns"] for row in owners[rows]), owners["time_ns"])
            self.assertEqual(sum(row["own_idle_before_ns"] for row in owners[rows]),
                             owners["idle_time_ns"])
        self.assertEqual(sum(row["own_time_ns"] for row in owners["operations"]),
                         owners["time_ns"])

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

    def run_autograd(self, version, *steps, library="torch", scenario=()):
        path = pathlib.Path(PROGRAMS) / library / "lib" / "libtorch_cpu.so"
        environment = self.environment(*scenario, UTLZ_TORCH_LIBRARY=str(path))
        run = self.run_command([interpreter(version), str(PYTHON_PROGRAMS / "autograd_model.py"),
                                *(steps or ("24",))], options=OPTIONS, environment=environment)
        self.assertEqual(run.status, 0, run.stderr)
        return run, self.report(run)

    def owned_kernels(self, run):
        """Of each kernel in its order: its name, layer, line, pass, whether that is inferred."""
        trace = self.folder / "trace.json"
        made = self.utlz("export", "--force", "--format", "chrome", "-o", str(trace), str(run.profile))
        self.assertEqual(made.returncode, 0, made.stderr)
        kernels = [event for event in json.loads(trace.read_text())["traceEvents"]
                   if event.get("cat") == "kernel"]
        kernels.sort(key=lambda event: event["ts"])
        return [[event["name"], *(event["args"].get(key) for key in ("layer", "line", "pass")),
                 event["args"].get("owner") == "inferred"] for event in kernels]

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

    def test_threads_that_are_called_back_no_more_have_no_stacks(self):
        run, owners = self.run_autograd(VERSIONS[0], scenario=("deaf_threads_after=600",))
        launches = run.told[0]["expected"]
        without = 0
        for kernel, expected in zip(self.owned_kernels(run), launches):
            name, layer, line, _, inferred = kernel
            without += line is None
            if layer is not None and not inferred:
                self.assertEqual([name, layer], expected[:2])
        self.assertGreater(without, len(launches) / 10)
        self.assert_sums(owners["owners"])

    def run_captured(self, version, *arguments, scenario=(), steps=20, replays=30,
                     options=OPTIONS):
        library = pathlib.Path(PROGRAMS) / "libgraph_captures.so"
        run = self.run_command([interpreter(version), str(PYTHON_PROGRAMS / "captured_model.py"),
                                str(steps), str(replays), *arguments], options=options,
                               environment=self.environment(
                                   *scenario, UTLZ_CAPTURES_LIBRARY=str(library)))
        self.assertEqual(run.status, 0, run.stderr)
        return run, self.report(run)["owners"]

    def replayed_kernels(self, run):
        [told] = run.told
        kernels = self.owned_kernels(run)
        self.assertEqual(len(kernels), told["launches"])
        replayed = kernels[len(told["eager"]):]
        self.assertEqual([name for name, *_ in replayed],
                         [name for name, *_ in told["captured"]] * told["replays"])
        return replayed

    def test_nodes_of_graphs_have_the_stack_of_their_capture(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                run, owners = self.run_captured(version)
                self.assert_sums(owners)
                [told] = run.told
                for kernel, expected in zip(self.replayed_kernels(run),
                                            told["captured"] * told["replays"]):
                    self.assertEqual(kernel, [*expected, None, False])
                self.assertNotIn("note", owners)
                self.assertEqual(owners["inferred_share"], 0)
                self.assertGreater(owners["layer_share"], 0.9)
                # The same lines launched kernels without a graph before.
                lines = {row["name"]: row for row in owners["lines"]}
                of_eager, of_graph = (collections.Counter(line for _, _, line in told[part])
                                      for part in ("eager", "captured"))
                for line, count in of_graph.items():
                    self.assertAlmostEqual(lines[line]["launches"],
                                           of_eager[line] + count * told["replays"], delta=1e-6)
                # Idle time before a replay is that of the line that replays.
                waits = max(owners["lines"], key=lambda row: row["idle_before_ns"])
                self.assertEqual(waits["function"], "main")

    def test_captures_between_windows_are_seen(self):
        # The steps spend what the account begins with. With so small a budget windows are then
        # those for new work alone, such as a graph.
        run, _ = self.run_captured(VERSIONS[0], "4", scenario=("ptx_kernel_ns=50000",),
                                   steps=6000, replays=300,
                                   options=("--counters=none", "--stacks=auto",
                                            "--overhead-budget=0.01%", "--later-windows=always"))
        [told] = run.told
        windows = written_frames.windows(run.profile)
        between = [(begin, end) for begin, end in told["captured_at_ns"]
                   if all(end < first or begin > last for first, last in windows)]
        self.assertTrue(between, (windows, told["captured_at_ns"]))
        expected = {tuple(kernel) for kernel in told["captured"]}
        trace = self.folder / "trace.json"
        made = self.utlz("export", "--format", "chrome", "-o", str(trace), str(run.profile))
        self.assertEqual(made.returncode, 0, made.stderr)
        graphs = collections.Counter()
        for event in json.loads(trace.read_text())["traceEvents"]:
            node = event.get("args", {}).get("graph node")
            if node is None:
                continue
            graphs[node >> 32] += 1
            self.assertNotIn("owner", event["args"])
            self.assertIn((event["name"], event["args"]["layer"], event["args"]["line"]), expected)
        self.assertGreater(len(graphs), len(told["captured_at_ns"]) - len(between),
                           "a graph that was captured between windows was replayed in one")

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

    def test_another_subscriber_keeps_its_subscription_beside_captures(self):
        for client in ("before", "during"):
            with self.subTest(client=client):
                run, owners = self.run_captured(VERSIONS[0], client)
                self.assertIn("another CUPTI client", owners["note"])
                for _, layer, _, _, inferred in self.replayed_kernels(run):
                    self.assertTrue(layer is None or inferred, (client, layer))
        # One that comes after the capture takes nothing away.
        run, owners = self.run_captured(VERSIONS[0], "after")
        self.assertEqual(owners["inferred_share"], 0)
        [told] = run.told
        for kernel, expected in zip(self.replayed_kernels(run),
                                    told["captured"] * told["replays"]):
            self.assertEqual(kernel, [*expected, None, False])

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



class AttachedStacksTest(AttachTest):

    def test_graphs_that_are_captured_after_attaching_have_stacks(self):
        library = pathlib.Path(PROGRAMS) / "libgraph_captures.so"
        program = Program(interpreter(VERSIONS[0]),
                          self.environment(UTLZ_CAPTURES_LIBRARY=str(library)), self.folder,
                          str(PYTHON_PROGRAMS / "captured_model.py"), "told")
        self.addCleanup(program.close)
        program.do("capture")
        program.do("replay")
        tool = self.attach("--stacks=auto", program.pid)
        tool.wait_for("tracing")
        program.do("replay")
        program.do("steps")
        captured = {tuple(kernel) for kernel in program.do("capture")["launched"]}
        program.do("replay")
        owners = self.finish(tool)["owners"]
        self.assertEqual(program.quit(), 0)
        self.assertNotIn("note", owners)
        trace = self.folder / "trace.json"
        made = self.utlz("export", "--format", "chrome", "-o", str(trace), str(tool.profile))
        self.assertEqual(made.returncode, 0, made.stderr)
        graphs = collections.defaultdict(list)
        for event in json.loads(trace.read_text())["traceEvents"]:
            if "graph node" in event.get("args", {}):
                graphs[event["args"]["graph node"] >> 32].append(event)
        first, second = (graphs[graph] for graph in sorted(graphs))
        self.assertTrue(all("layer" not in event["args"] or event["args"]["owner"] == "inferred"
                            for event in first))
        self.assertEqual(len(second), len(first))
        for event in second:
            self.assertNotIn("owner", event["args"])
            self.assertIn((event["name"], event["args"]["layer"], event["args"]["line"]), captured)


if __name__ == "__main__":
    unittest.main()

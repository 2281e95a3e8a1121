"""Whose kernels of CUDA graphs are: stacks of their captures."""

import collections
import json
import pathlib
import unittest

import written_frames
from harness import PROGRAMS
from stack_test import OPTIONS, PYTHON_PROGRAMS, VERSIONS, StackTest, interpreter


class CapturedStacksTest(StackTest):

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


if __name__ == "__main__":
    unittest.main()

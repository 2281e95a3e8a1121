"""Stacks of programs that are attached to in mid-run."""

import collections
import json
import pathlib
import unittest

from attaching import AttachTest, Program
from harness import PROGRAMS
from stack_test import PYTHON_PROGRAMS, VERSIONS, interpreter


class AttachedStacksTest(AttachTest):

    def start_model(self, *scenario):
        library = pathlib.Path(PROGRAMS) / "libgraph_captures.so"
        program = Program(interpreter(VERSIONS[0]),
                          self.environment(*scenario, UTLZ_CAPTURES_LIBRARY=str(library)),
                          self.folder, str(PYTHON_PROGRAMS / "captured_model.py"), "told")
        self.addCleanup(program.close)
        return program

    def test_graphs_that_are_captured_after_attaching_have_stacks(self):
        program = self.start_model()
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

    def test_a_recording_that_ends_while_a_thread_launches(self):
        """A thread whose call the end of callbacks cut in two would have one number from then on."""
        # The second is as a full queue makes them, or a machine without a free processor.
        for launch_us, duration_s in ((300, 0.3), (400_000, 1)):
            with self.subTest(launch_us=launch_us):
                program = self.start_model(f"launch_us={launch_us}")
                program.do("endless")
                for _ in range(5):
                    tool = self.attach("--stacks=auto", program.pid, duration=duration_s)
                    owners = self.result(tool)["owners"]
                    self.assertLess(owners.get("ownerless_share", 1), 0.2)


if __name__ == "__main__":
    unittest.main()

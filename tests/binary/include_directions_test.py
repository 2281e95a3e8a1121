"""The include check must find what it is there to find."""

import pathlib
import tempfile
import unittest

import check_include_directions


class IncludeDirectionsTest(unittest.TestCase):

    def problems(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return list(check_include_directions.problems_in(root))

    def test_accepts_the_order_of_the_folders(self):
        self.assertEqual([], self.problems({
            "proto/ring_abi.h": "#include <cstdint>\n",
            "proto/profile.proto": "",
            "inject/agent.cc": '#include "proto/ring_abi.h"\n#include <cupti.h>\n',
            "collector/fd.h": "",
            "collector/counters/set.cc":
                '#include "proto/profile.pb.h"\n#include "collector/fd.h"\n#include <iostream>\n',
            "tools/run/run.cc": '#include "collector/fd.h"\n',
            "tests/unit/run/a_test.cc": '#include "tools/run/run.h"\n', "tools/run/run.h": ""}))

    def test_refuses_dependencies_against_the_order(self):
        for path, include in (("proto/a.h", "inject/b.h"), ("inject/a.cc", "collector/b.h"),
                              ("inject/record/a.cc", "inject/b.h"),
                              ("inject/base/a.cc", "inject/record/b.h"),
                              ("collector/decode/a.cc", "tools/run/b.h"),
                              ("collector/decode/a.cc", "inject/b.h"),
                              ("collector/decode/a.cc", "collector/timeline/b.h"),
                              ("collector/run/a.h", "collector/analysis/b.h"),
                              ("collector/analysis/a.h", "collector/summary/b.h"),
                              ("collector/summary/a.h", "collector/diagnosis/b.h"),
                              ("collector/run/a.cc", "collector/summarize/b.h"),
                              ("collector/sampler/a.cc", "collector/ingest/b.h"),
                              ("collector/sampler/driver/a.cc", "collector/sampler/b.h"),
                              ("collector/sampler/sharing/a.cc", "collector/sampler/doctor/b.h"),
                              ("collector/session/a.cc", "collector/sampler/counters/b.h"),
                              ("collector/attribution/a.cc", "proto/b.h"),
                              ("tools/compare/a.cc", "tools/report/b.h"),
                              ("tools/attach/target/a.cc", "tools/attach/b.h"),
                              ("tools/utlz/a.cc", "inject/b.h"),
                              ("tools/utlz/a.cc", "tests/b.h")):
            problems = self.problems({path: f'// one\n#include "{include}"\n', include: ""})
            self.assertEqual(1, len(problems), (path, include))
            self.assertIn(f"{path}:2: ", problems[0])

    def test_the_overviews_table_must_agree(self):
        row = "| `collector/counters` | collector | `timeline`, `decode`, `attribution` |\n"
        said = list(check_include_directions.problems_of_overview(row))
        self.assertFalse([line for line in said if "collector/counters may" in line], said)
        self.assertTrue([line for line in said if line.endswith("no collector/metrics")], said)
        said = list(check_include_directions.problems_of_overview(row.replace("`timeline`, ", "")))
        self.assertTrue([line for line in said if "collector/counters may" in line], said)

    def test_keeps_the_target_free_of_our_libraries(self):
        for include in ("<absl/status/status.h>", "<google/protobuf/message.h>", "<iostream>",
                        '"proto/profile.pb.h"', "<stdexcept>"):
            problems = self.problems({"proto/profile.proto": "",
                                      "inject/a.cc": f"#include {include}\n"})
            self.assertEqual(1, len(problems), include)

    def test_refuses_includes_that_are_not_from_the_root_or_not_there(self):
        self.assertEqual(2, len(self.problems({
            "collector/decode/a.cc": '#include "b.h"\n#include "collector/decode/c.h"\n',
            "collector/decode/b.h": ""})))

    def test_refuses_folders_without_a_row(self):
        for path in ("collector/other/a.h", "inject/record/deep/a.cc", "tools/a.cc"):
            problems = self.problems({path: ""})
            self.assertEqual(1, len(problems), path)
            self.assertIn(path, problems[0])

    def test_refuses_modules_that_include_each_other(self):
        # No header comes back to itself: the cycle is one of headers with their .cc files.
        problems = self.problems({
            "collector/run/a.h": "", "collector/run/a.cc": '#include "collector/run/b.h"\n',
            "collector/run/b.h": '#include "collector/run/c.h"\n',
            "collector/run/c.h": "", "collector/run/c.cc": '#include "collector/run/a.h"\n',
            "collector/run/d.cc": '#include "collector/run/a.h"\n'})
        self.assertEqual(["these modules include each other: collector/run/a, collector/run/b, "
                          "collector/run/c"], problems)

    def test_the_rows_have_an_order(self):
        self.assertEqual([], check_include_directions.cycles_of(check_include_directions.ALLOWED))
        for folder, allowed in check_include_directions.ALLOWED.items():
            for other in allowed:
                self.assertIn(other, check_include_directions.ALLOWED, folder)


if __name__ == "__main__":
    unittest.main()

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
            "collector/model/model.cc":
                '#include "proto/profile.pb.h"\n#include "collector/fd.h"\n#include <iostream>\n',
            "tools/utlz/main.cc": '#include "collector/fd.h"\n'}))

    def test_refuses_dependencies_against_the_order(self):
        for path, include in (("proto/a.h", "inject/b.h"), ("inject/a.cc", "collector/b.h"),
                              ("collector/model/a.cc", "tools/b.h"),
                              ("collector/model/a.cc", "inject/b.h"),
                              ("collector/sampling/a.cc", "collector/ingest/b.h"),
                              ("collector/attribution/a.cc", "proto/b.h"),
                              ("tools/utlz/a.cc", "inject/b.h"),
                              ("tools/utlz/a.cc", "tests/b.h")):
            problems = self.problems({path: f'// one\n#include "{include}"\n', include: ""})
            self.assertEqual(1, len(problems), (path, include))
            self.assertIn(f"{path}:2: ", problems[0])

    def test_keeps_the_target_free_of_our_libraries(self):
        for include in ("<absl/status/status.h>", "<google/protobuf/message.h>", "<iostream>",
                        '"proto/profile.pb.h"', "<stdexcept>"):
            problems = self.problems({"proto/profile.proto": "",
                                      "inject/a.cc": f"#include {include}\n"})
            self.assertEqual(1, len(problems), include)

    def test_refuses_includes_that_are_not_from_the_root_or_not_there(self):
        self.assertEqual(2, len(self.problems({
            "collector/model/a.cc": '#include "b.h"\n#include "collector/model/c.h"\n',
            "collector/model/b.h": ""})))


if __name__ == "__main__":
    unittest.main()

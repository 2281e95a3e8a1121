"""The check of folders must find what it is there to find."""

import pathlib
import tempfile
import unittest

import check_folders


class FoldersTest(unittest.TestCase):

    def problems(self, changes):
        folders = list(check_folders.ALLOWED) + list(check_folders.EVERYTHING)
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            files = {f"{name}/README.md": "line\n" * 5 for name in folders}
            files.update(changes)
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                if text is not None:
                    path.write_text(text)
            return list(check_folders.problems_in(root))

    def test_accepts_short_readmes_and_small_folders(self):
        self.assertEqual([], self.problems({"collector/run/README.md": "line\n" * 15}))
        modules = {f"collector/run/m{i}.{end}": "" for i in range(30) for end in ("h", "cc")}
        self.assertEqual([], self.problems(modules))

    def test_refuses_a_folder_without_readme_or_with_a_long_one(self):
        for text in (None, "", "line\n" * 4, "line\n" * 16):
            problems = self.problems({"inject/record/README.md": text})
            self.assertEqual(1, len(problems), text)
            self.assertIn("inject/record/", problems[0])

    def test_refuses_a_crowded_folder(self):
        problems = self.problems({f"tools/attach/m{i}.cc": "" for i in range(31)})
        self.assertEqual(["tools/attach/ has 31 modules: more than 30"], problems)


if __name__ == "__main__":
    unittest.main()

"""The check of class names must find what it is there to find, and nothing else."""

import pathlib
import tempfile
import unittest

import check_class_names


class ClassNamesTest(unittest.TestCase):

    def problems(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return list(check_class_names.problems_in(root))

    def test_refuses_two_types_of_one_name(self):
        first = "namespace utlz {\nclass CounterSet {\n public:\n  int x;\n};\n}\n"
        for path, second in (
                ("collector/sampler/a.h", first),
                ("tools/a/a.cc", "namespace utlz { struct CounterSet final { int y; }; }"),
                ("tools/a/b.h", "namespace utlz { template <class T>\nclass CounterSet : Base<T> {}; }"),
                ("tools/a/c.h", "namespace utlz { enum class CounterSet : int { kA }; }"),
                ("tools/a/d.h", "namespace utlz {\nstruct alignas(8) [[nodiscard]] CounterSet {};\n}"),
                ("proto/a.proto", 'package utlz;\nmessage CounterSet {\n}\n')):
            problems = self.problems({"collector/counters/a.h": first, path: second})
            self.assertEqual(1, len(problems), (path, problems))
            self.assertIn("utlz::CounterSet: collector/counters/a.h and " + path, problems[0])

    def test_refuses_two_types_of_one_name_in_the_agent(self):
        text = "namespace utlz::agent {\nstruct A {};\n}\n"
        self.assertEqual(1, len(self.problems({"inject/a.h": text, "inject/base/b.h": text})))

    def test_accepts_what_the_linker_keeps_apart(self):
        text = "namespace utlz { struct A { int x; }; }"
        for path, other in (
                ("inject/a.h", text),  # another file than the program
                ("tools/a.h", "namespace utlz::attach { struct A {}; }"),
                ("tools/b.cc", "namespace utlz { namespace { struct A {}; } }"),
                ("tools/c.h", "namespace utlz { struct A; }"),
                ("tools/d.h", "namespace utlz { class B { struct A { int x; }; }; }"),
                ("tools/e.cc", "namespace utlz { void F() { struct A { int x; }; } }"),
                ("tools/f.h", "namespace utlz { // struct A {};\n/* struct A {\n}; */ }"),
                ("tools/g.h", 'namespace utlz { const char* kA = "{ struct A {"; }'),
                ("tools/h.h", "namespace utlz { struct A F(); template <class A> void G(A a) {} }")):
            self.assertEqual([], self.problems({"collector/a.h": text, path: other}), path)


if __name__ == "__main__":
    unittest.main()

"""What a failing end-to-end comparison says, however many kernels it is of."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))

from first_differences import SHOWN, first_differences  # noqa: E402


class FirstDifferences(unittest.TestCase):

    def test_values_of_a_mapping(self):
        self.assertEqual(first_differences({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 5, "c": 3}),
                         "1 of 3 differ (first != second):\n  'b': 2 != 5")

    def test_what_one_side_lacks(self):
        self.assertEqual(first_differences({"a": None}, {"b": 2}),
                         "2 of 2 differ (first != second):\n"
                         "  'a': None != absent\n  'b': absent != 2")

    def test_lists_of_unequal_length(self):
        self.assertEqual(first_differences([1, 2, 3], [1, 4]),
                         "2 of 3 differ (first != second):\n  1: 2 != 4\n  2: 3 != absent")

    def test_only_the_first_of_many(self):
        text = first_differences({f"kernel{number}": number for number in range(5000)},
                                 {f"other{number}": number for number in range(5000)})
        self.assertTrue(text.startswith("10000 of 10000 differ"), text)
        self.assertEqual(len(text.splitlines()), SHOWN + 2)
        self.assertTrue(text.endswith(f"and {10000 - SHOWN} more"), text)

    def test_long_values_are_cut(self):
        text = first_differences(["x" * 100000], [""])
        self.assertLess(len(text), 300)


if __name__ == "__main__":
    unittest.main()

"""What commands say of options that do nothing, or cannot be met.

    options_test.py UTLZ PROFILE WRITE_INVALID_TEXT
"""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

UTLZ, PROFILE, WRITE_INVALID_TEXT = sys.argv[1:4]
USAGE = 2
FAILED = 1


def report(*options):
    done = subprocess.run([UTLZ, "report", PROFILE, *options], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


class OptionsTest(unittest.TestCase):

    def test_csv_has_no_table_of_streams(self):
        status, text, error = report("--format", "csv", "--by", "stream")
        self.assertEqual((USAGE, ""), (status, text))
        self.assertIn("--by kernel, layer, line and op", error)
        self.assertEqual(0, report("--format", "csv", "--by", "op")[0])

    def test_by_is_not_ignored_where_it_does_nothing(self):
        for form in ("json", "html", "markdown"):
            status, text, error = report("--format", form, "--by", "layer")
            self.assertEqual((USAGE, ""), (status, text), form)
            self.assertIn("--by chooses a table of --format text or csv", error)
            self.assertEqual(0, report("--format", form, "--by", "kernel")[0], form)

    def test_an_unknown_step_kernel_is_no_report_without_steps(self):
        status, text, error = report("--step-kernel", "no_such_kernel")
        self.assertEqual((FAILED, ""), (status, text))
        self.assertIn("no kernel whose name holds 'no_such_kernel'", error)

    def test_the_text_is_as_wide_as_the_terminal(self):
        for columns in (80, 132):
            terminal, program = pty.openpty()
            fcntl.ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
            done = subprocess.Popen([UTLZ, "report", PROFILE], stdout=program,
                                    env={**os.environ, "NO_COLOR": "1"})
            os.close(program)
            text = b""
            try:
                while data := os.read(terminal, 65536):
                    text += data
            except OSError:  # the other end was closed
                pass
            os.close(terminal)
            self.assertEqual(0, done.wait())
            widest = max(map(len, text.decode().replace("\r", "").splitlines()))
            self.assertLessEqual(widest, columns)
            self.assertGreater(widest, columns - 10)
        self.assertEqual(USAGE, report("--columns", "79")[0])
        self.assertLessEqual(max(map(len, report()[1].splitlines())), 100)

    def test_an_option_that_is_given_twice_is_named_so(self):
        status, _, error = report("--by", "line", "--by", "layer")
        self.assertEqual(USAGE, status)
        self.assertIn("--by: given 2 times, and it takes one value", error)

    def test_an_export_of_a_time_in_which_nothing_ran_says_so(self):
        def export(*options):
            done = subprocess.run([UTLZ, "export", PROFILE, "-o", "-", *options],
                                  capture_output=True, check=False)
            return done.returncode, done.stderr.decode()
        status, said = export("--from", "100", "--to", "200")
        self.assertEqual(0, status)
        self.assertIn("nothing was recorded between --from and --to", said)
        self.assertNotIn("nothing was recorded", export("--from", "10", "--to", "10.2")[1])

    def test_text_that_is_no_utf_8_prints_nothing_of_protobuf(self):
        with tempfile.TemporaryDirectory() as folder:
            profile = f"{folder}/run.utlz"
            subprocess.run([WRITE_INVALID_TEXT, profile], stderr=subprocess.DEVNULL, check=True)
            done = subprocess.run([UTLZ, "report", profile], capture_output=True, text=True,
                                  check=False)
            self.assertNotIn("protobuf", done.stderr)

    def test_an_export_to_standard_output_goes_on_in_the_file_that_it_leads_to(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"first line\n")
            file.flush()
            done = subprocess.run([UTLZ, "export", PROFILE, "-o", "-", "--format", "chrome",
                                   "--to", "0.1"], stdout=file, stderr=subprocess.PIPE, check=False)
            self.assertEqual(0, done.returncode, done.stderr)
            with open(file.name, "rb") as written:
                self.assertEqual(b"first line\n", written.readline())
                self.assertIn("traceEvents", json.load(written))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

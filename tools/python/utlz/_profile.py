"""A profile, read by the program utlz."""

from __future__ import annotations

import dataclasses
import functools
import html
import json
import os
import subprocess
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Union

from utlz._program import program_path
from utlz._records import Family, Kernel, Step, families_of, kernels_of, steps_of

if TYPE_CHECKING:
    import pandas

_SCHEMA = "utlz.report/1"
_CELL_HEIGHT_PIXELS = 800


class ReportError(RuntimeError):
    """utlz could not read the profile; the message is utlz's own."""


def _report_of(program: str, path: str, form: str) -> str:
    done = subprocess.run([program, "report", "--format", form, path], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise ReportError(said or f"{program} ended with status {done.returncode}")
    return done.stdout.decode("utf-8")


class Profile:
    """What one profile says. Made by utlz.load().

    kernels: kernel variants, those with largest estimated savings first.
    families: the same by the kind of work that their names tell, those with most time first.
    steps: steps of the program's loop, in order.
    report: everything, as `utlz report --format json` prints it. Units are in the names: _ns
        nanoseconds, _bytes, _share 0…1, _hz, _per_second.
    """

    def __init__(self, path: str, program: str, report: Dict[str, Any]) -> None:
        self.path = path
        self.report = report
        self._program = program

    @functools.cached_property
    def kernels(self) -> List[Kernel]:
        """Kernel variants, those with largest estimated savings first."""
        return kernels_of(self.report)

    @functools.cached_property
    def families(self) -> List[Family]:
        """Kernels by kind of work, those with most time first."""
        return families_of(self.kernels)

    @functools.cached_property
    def steps(self) -> List[Step]:
        """Steps of the program's loop, in order; at most 2,000."""
        return steps_of(self.report)

    @property
    def verdict(self) -> str:
        """One sentence on the run."""
        return str(self.report.get("verdict", ""))

    def kernel_frame(self) -> "pandas.DataFrame":
        """`kernels` as a pandas DataFrame, a row a variant; times in nanoseconds. Needs pandas."""
        return _frame(self.kernels, Kernel)

    def family_frame(self) -> "pandas.DataFrame":
        """`families` as a pandas DataFrame; times in nanoseconds. Needs pandas."""
        return _frame(self.families, Family)

    def step_frame(self) -> "pandas.DataFrame":
        """`steps` as a pandas DataFrame; times in nanoseconds. Needs pandas."""
        return _frame(self.steps, Step)

    def html(self) -> str:
        """The HTML report: a whole page that needs no network."""
        return _report_of(self._program, self.path, "html")

    def _repr_html_(self) -> str:
        # The page has a frame of its own, without the notebook's origin: names in it come from the
        # profiled program.
        return (f'<iframe sandbox="allow-scripts" srcdoc="{html.escape(self.html())}" '
                f'style="width: 100%; height: {_CELL_HEIGHT_PIXELS}px; border: 0"></iframe>')

    def __repr__(self) -> str:
        return f"<utlz profile {self.path}: {len(self.kernels)} kernels, {len(self.steps)} steps>"


def _frame(records: Sequence[Any], kind: type) -> "pandas.DataFrame":
    import pandas  # pylint: disable=import-outside-toplevel

    names = [field.name for field in dataclasses.fields(kind)]
    return pandas.DataFrame([[getattr(record, name) for name in names] for record in records],
                            columns=names)


def load(path: Union[str, "os.PathLike[str]"], program: Optional[str] = None) -> Profile:
    """Reads a profile (.utlz).

    program: the utlz to read it with; by default the one that belongs to this package, else the
        first in the PATH.
    Raises ReportError where utlz cannot read the file, and FileNotFoundError where there is no
    utlz.
    """
    reader = program or program_path()
    # A name that begins with a dash is a file's all the same.
    file = os.path.abspath(os.fspath(path))
    text = _report_of(reader, file, "json")
    try:
        report = json.loads(text)
    except ValueError as error:
        raise ReportError(f"{reader} did not print JSON; is it another program of that name?"
                          ) from error
    if not isinstance(report, dict) or report.get("schema") != _SCHEMA:
        raise ReportError(f"{reader} did not print a {_SCHEMA}; is it another program of that name, "
                          "or a newer utlz than this package?")
    return Profile(file, reader, report)

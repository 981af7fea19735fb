"""The results of a run or a sweep."""

from __future__ import annotations

import html
import io
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import lab
from .folder import manifest_of, table_of
from .statistics import paired, summarize

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from .drawing import Drawing

_FIXED = ("run", "replica", "window", "flow", "path", "quantity", "time", "value")


@dataclass(frozen=True)
class Result:
    """The tables and the manifest of a run or a sweep.

    ``scalars`` has a row for each number measured in a run: columns run, replica, one for each axis of the sweep,
    window, flow, path (from 0), quantity, value. An axis of quantities such as ``10 Mbit/s`` has a second column of
    numbers in the base unit (``rate_bps`` beside ``rate``). ``series`` has a row for each point of a probe, with the
    time in seconds.
    ``window`` names a window of the scenario; it is empty for numbers from a flow's own reset time to its stop time.
    ``manifest`` says what was run: hash of the scenario, seed, version, digests.
    """

    scalars: pl.DataFrame
    series: pl.DataFrame
    manifest: dict[str, Any]

    @classmethod
    def from_bytes(cls, scalars: bytes, series: bytes, manifest: str) -> Result:
        """Reads two Parquet tables and a JSON manifest from memory."""
        return cls(_table(scalars), _table(series), json.loads(manifest))

    @classmethod
    def read(cls, directory: str | Path) -> Result:
        """Reads the folder that ``anabranch sweep --out DIRECTORY``, ``run --out`` or ``measure --out`` wrote.

        The manifest has the SHA-256 of each table and of itself. Raises :class:`DamagedResultError`, a ValueError, if a
        file is not what was written, and OSError if it cannot be read.
        """
        lab.require()
        folder = Path(directory)
        manifest = manifest_of(folder)
        return cls(table_of(folder, manifest, "scalars"), table_of(folder, manifest, "series"), manifest)

    @property
    def axes(self) -> list[str]:
        """The axes of variation, in the order of the scenario."""
        numbers = {axis.get("number_column") for axis in self.manifest.get("axes", [])}
        return [column for column in self.scalars.columns if column not in _FIXED and column not in numbers]

    def summary(self, quantity: str | None = None) -> pl.DataFrame:
        """Mean and 95 % interval over the replicas, of all scalars or of the scalars of one quantity."""
        frame = self.scalars if quantity is None else self._of(quantity)
        return summarize(frame, [*self.axes, "window", "flow", "path", "quantity"])

    def compare(self, axis: str, quantity: str, *, baseline: object = None) -> pl.DataFrame:
        """Paired differences of one quantity between the variants of an axis, with 95 % intervals.

        The runs of one replica draw the same random numbers in all variants. So the difference of two runs of the same
        replica varies less than the two values, and its interval (Student's t over the pairs) is narrower than the
        intervals of :meth:`summary` suggest.

        Each value of ``axis`` is compared with ``baseline``, by default its first value, in runs that are equal in
        replica and in all other axes. There is a row for each of them, and for each combination of the other axes,
        window, flow and path. Columns after these, in the unit of the quantity where they have one:

        - ``baseline``, the value, and ``baseline_mean``, the mean over its runs that have a partner;
        - ``difference``: mean of value minus baseline, null without a pair; ``half_width`` of its interval, infinite
          with fewer than two pairs;
        - ``pairs``: replicas that both have; ``missing``: the replicas that only one of the two has;
        - ``note``: in words that the two are identical in all replicas, or what is missing; otherwise empty.

        An axis with one value gives an empty frame. Raises KeyError, with the known names, for an axis, a quantity or a
        baseline that does not exist.
        """
        if axis not in self.axes:
            raise KeyError(f"no axis `{axis}`: there are {', '.join(self.axes) or 'none'}")
        frame = self._of(quantity)
        values = self.scalars[axis].unique(maintain_order=True).to_list()
        found = values[:1] if baseline is None else [value for value in values if _same(value, baseline)]
        if not found:
            raise KeyError(f"axis `{axis}` has no value `{baseline}`: there are {', '.join(map(str, values))}")
        others = [name for name in self.axes if name != axis]
        return paired(frame, axis, found[0], [*others, "window", "flow", "path", "quantity"])

    def _of(self, quantity: str) -> pl.DataFrame:
        """The scalars of one quantity."""
        frame = self.scalars.filter(quantity=quantity)
        if frame.is_empty():
            known = ", ".join(self.scalars["quantity"].unique().sort())
            raise KeyError(f"no quantity `{quantity}`: there are {known}")
        return frame

    def path_label(self, flow: str, path: int, *, run: int | None = None, back: bool = False) -> str:
        """The label of a path in plots and reports: ``path 1 (lte)``, or ``path 1`` if the path has no name.

        A path is named after a link that has a name in the scenario and is on no other path of the flow. ``run`` is the
        number of a run; without it a path of a sweep has a name only if it is the same in all runs. ``back``: ``path``
        is the number of a path of the server, as in quantities that begin with ``back_``.
        """
        runs = [one for one in self.manifest.get("runs", []) if run is None or one.get("run") == run]
        direction = "back" if back else "forward"
        listed = (one.get("paths", {}).get(flow, {}).get(direction, []) for one in runs)
        names = {names[path] if path < len(names) else None for names in listed}
        name = names.pop() if len(names) == 1 else None
        return f"path {path}" if name is None else f"path {path} ({name})"

    def plot(
        self, quantity: str, *, flow: str | None = None, path: int | None = None, run: int = 0, x: str | None = None
    ) -> Drawing:
        """A figure of one quantity, with labelled axes; notebooks show it, and ``savefig`` writes it.

        A quantity that a probe recorded (``"cwnd"``, ``"srtt"``, ``"queue"`` ...) is drawn over time, of run number
        ``run``. Any other (``"throughput_bps"`` ...) is drawn as means and 95 % intervals over the axis ``x`` of the
        sweep, by default the first one. ``flow`` and ``path`` choose what is drawn. Raises KeyError for a name that
        does not exist.
        """
        from .drawing import draw

        return draw(self, quantity, flow=flow, path=path, run=run, x=x)

    def report(self, out: str | Path) -> Path:
        """Writes one HTML file with everything about the run or sweep, and returns its path (``docs/report.md``)."""
        from .report import write

        return write(self, out)

    def to_polars(self) -> pl.DataFrame:
        """The scalars as a polars frame."""
        return self.scalars

    def to_pandas(self) -> pd.DataFrame:
        """The scalars as a pandas frame (needs pandas: ``pip install 'anabranch[pandas]'``)."""
        return as_pandas(self.scalars)

    def __repr__(self) -> str:
        runs = self.scalars["run"].n_unique() if "run" in self.scalars.columns else 0
        axes = f", axes {', '.join(self.axes)}" if self.axes else ""
        return f"<Result: {runs} runs{axes}, {self.scalars.height} scalars, {self.series.height} points of series>"

    def _repr_html_(self) -> str:
        """Means and intervals as a table, for notebooks."""
        summary = self.summary()
        keys = summary.columns[:-3]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in [*keys, "mean", "95 % interval", "replicas"])
        body = "".join(_html_row(row, keys) for row in summary.head(60).iter_rows(named=True))
        more = summary.height - 60
        rest = f"<p>and {more} more: see <code>summary()</code></p>" if more > 0 else ""
        name = html.escape(str(self.manifest.get("title", "")))
        runs = self.manifest.get("runs", [])
        digest = f", digest <code>{html.escape(str(runs[0].get('digest', '')))}</code>" if len(runs) == 1 else ""
        origin = f"seed {html.escape(str(self.manifest.get('seed')))}{digest}"
        title = f"<strong>{name}</strong> ({origin})<br>{html.escape(repr(self)[1:-1])}"
        return f"<p>{title}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _table(data: bytes) -> pl.DataFrame:
    import polars as pl

    return pl.read_parquet(io.BytesIO(data))


def _same(value: object, given: object) -> bool:
    """Whether a value of an axis is the given one, which may be its text."""
    if not isinstance(given, str) or isinstance(value, str):
        return value == given
    if isinstance(value, float):
        try:
            return value == float(given)
        except ValueError:
            return False
    return str(value).lower() == given.lower()


def _html_row(row: dict[str, Any], keys: list[str]) -> str:
    interval = f"± {row['half_width']:.3g}" if math.isfinite(row["half_width"]) else "one replica"
    cells = ["" if row[key] is None else str(row[key]) for key in keys]
    cells += [f"{row['mean']:.6g}", interval, str(row["count"])]
    return "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"


def as_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """A polars frame of plain columns as a pandas frame, without Arrow in between."""
    try:
        # An optional dependency, and slow to import.
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas: pip install 'anabranch[pandas]'") from error
    return pd.DataFrame({name: frame[name].to_list() for name in frame.columns})

"""Tables that pandas, Polars and PyArrow read without copying."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from . import _core
from ._arguments import plain


class Table:
    """Named columns of one length, each with its type and its unit, whatever its values and whether the run was done, pickled or read.

    Numbers that are always whole are int64, all others float64, in which a missing value is null (in NumPy NaN). All other columns are texts.
    A parameter of a sweep is float64 if all its values are numbers, otherwise text.

    Any library that supports Arrow's C stream can read it: `polars.DataFrame(table)`, `pyarrow.table(table)`.
    For pandas there is `to_pandas()`.

    >>> import migsim
    >>> table = migsim.run(app="sw", n=10).supersteps
    >>> table.columns
    ['scenario', 'superstep', 'start_s', 'end_s', 'computed_s']
    >>> table.units["start_s"]
    's'
    >>> float(table["start_s"][0])
    0.0
    """

    def __init__(self, core: _core.Table, name: str = "", notes: Iterable[str] = ()) -> None:
        self._core, self._name = core, name
        #: Notes of the command that made it.
        self.notes: list[str] = list(notes)

    @classmethod
    def read_csv(cls, file: str | PathLike[str]) -> Table:
        """Reads a CSV file of migsim, whose name determines the types of its columns.

        In a file with another name, a column has numbers if all its values are numbers.
        """
        name = Path(file).stem
        return cls(_core.read_csv(Path(file).read_bytes(), name), name)

    @classmethod
    def _of_dicts(cls, name: str, columns: Iterable[str], rows: Iterable[Mapping[str, Any]], notes: Iterable[str] = ()) -> Table:
        """Creates the table `name`; None, NaN and no value are missing values."""
        rows = list(rows)
        texts = [(column, ["" if one is None or one != one else str(one) for one in (row.get(column) for row in rows)]) for column in columns]
        return cls(_core.Table(name, texts), name, notes)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Table._of_dicts, (self._name, self.columns, list(self.rows()), self.notes))

    def __array__(self, *_: object, **__: object) -> Any:
        raise TypeError("a table has columns of several types: use `table.to_pandas()`, or `table[\"COLUMN\"]` for an array")

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._core.columns

    @property
    def units(self) -> dict[str, str]:
        """The units of the columns that have a unit."""
        return self._core.units

    def __len__(self) -> int:
        return len(self._core)

    def __getitem__(self, name: str) -> Any:
        """A column: a NumPy array of int64 or float64 (a missing value is NaN), or a list of texts."""
        return self._core[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._core.__arrow_c_stream__(requested_schema)

    def rows(self, limit: int | None = None) -> Iterator[dict[str, Any]]:
        """Iterates over the rows as dicts, over the first `limit` of them if given."""
        names = self.columns
        for values in zip(*(plain(self[name][:limit]) for name in names)):
            yield dict(zip(names, values))

    def to_pandas(self) -> Any:
        """Returns a data frame of pandas, with the units in its `attrs`."""
        import pandas

        try:
            import pyarrow
        except ImportError:
            frame = pandas.DataFrame({name: self[name] for name in self.columns})
        else:
            table = pyarrow.table(self)
            # Categories would depend on the values.
            types = ((one.name, getattr(one.type, "value_type", one.type)) for one in table.schema)
            frame = table.cast(pyarrow.schema(types)).to_pandas()
        frame.attrs["units"] = self.units
        return frame

    def to_polars(self) -> Any:
        """Returns a data frame of Polars."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> Any:
        """Returns a table of PyArrow, with the units in the metadata of its fields."""
        import pyarrow

        return pyarrow.table(self)

    def __repr__(self) -> str:
        return _text(self)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        cells = (
            "<tr>" + "".join(f"<td>{html.escape(str(value))}</td>" for value in row.values()) + "</tr>"
            for row in self.rows(10)
        )
        more = len(self) - 10
        rest = f"<p>and {more} more rows</p>" if more > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(cells)}</tbody></table>{rest}"


#: Maximum number of rows, and of letters per line, that are printed.
_ROWS, _WIDTH = 10, 140


def _text(table: Table) -> str:
    """Formats the first rows as text; columns that do not fit are named below."""
    rows = list(table.rows(_ROWS))
    columns: list[list[str]] = []
    for name in table.columns:
        cells = [name, *(_shown(row[name]) for row in rows)]
        width = max(map(len, cells))
        if sum(2 + len(column[0]) for column in columns) + width > _WIDTH:
            break
        justify = str.ljust if any(isinstance(row[name], str) for row in rows) else str.rjust
        columns.append([justify(cell, width) for cell in cells])
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns)]
    more, left_out = len(table) - len(rows), table.columns[len(columns) :]
    lines += [f"and {more} more rows"] if more > 0 else []
    lines += [f"and the columns {', '.join(left_out)}"] if left_out else []
    return "\n".join(lines)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return "" if value is None else str(value)

"""Whatever a CSV writer writes, the table holds what the text says."""

from __future__ import annotations

import csv
import math
import tempfile
from datetime import date
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from suffice.ingestion.sniff import NULLS, csv_layout
from suffice.libs import duck
from suffice.rows.files import csv_sql

WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"], include_characters="\n,;\t\"|'"), max_size=8
)
CELLS = {
    "whole": st.integers(-(10**19), 10**19).map(str),
    "padded": st.integers(0, 999).map(lambda n: f"{n:04d}"),
    "decimal": st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
    "day": st.dates(date(1, 1, 1)).map(str),
    "truth": st.sampled_from(["true", "false", "True", "FALSE"]),
    "word": WORDS,
    "gap": st.sampled_from(["", "NA", "-", "7"]),
}


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    """Columns of one or two sorts of cells each, under plain names."""
    width, height = draw(st.integers(1, 5)), draw(st.integers(1, 12))
    columns = []
    for _ in range(width):
        sorts = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=2))
        columns.append(draw(st.lists(st.one_of(*[CELLS[s] for s in sorts]), min_size=height, max_size=height)))
    return [list(row) for row in zip(*columns, strict=True)]


def same(text: str, value: object, type_: str, nulls: set[str]) -> bool:
    if value is None:
        return text == "" or text in nulls
    if type_ == "VARCHAR":
        return value == text
    if type_ == "BIGINT":
        return value == int(text)
    if type_ == "DOUBLE":
        return isinstance(value, float) and math.isclose(value, float(text), rel_tol=1e-12, abs_tol=1e-300)
    if type_ == "BOOLEAN":
        return str(value).lower() == text.lower()
    return str(value) == text


@settings(max_examples=150, deadline=None)
@given(tables(), st.sampled_from(["\n", "\r\n"]))
@example([["a;b"], ["c"]], "\n")
def test_values_equal_the_text(rows: list[list[str]], end: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        with path.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator=end, quoting=csv.QUOTE_MINIMAL)
            writer.writerow([f"name of {'abcdefgh'[n]}" for n in range(len(rows[0]))])
            writer.writerows(rows)
        layout = csv_layout(path)
        names = [(c.name, c.type) for c in layout.columns]
        with duck.connect() as connection:
            read = connection.execute(csv_sql(path, layout.options, names)).fetchall()
    assert [name for name, _ in names] == [f"name of {'abcdefgh'[n]}" for n in range(len(rows[0]))]
    assert len(read) == layout.rows == len(rows)
    for row, told in zip(rows, read, strict=True):
        for cell, value, (name, type_) in zip(row, told, names, strict=True):
            assert same(cell, value, type_, set(layout.options.get("nulls", {}).get(name, []))), (cell, value, type_)
    assert set(NULLS) >= {n for names in layout.options.get("nulls", {}).values() for n in names}

"""FIBEN: 152 tables of a bank with run-together names and no rows: the rules beside rankings.

    BENCH=DIR python benchmarks/fiben.py [--home DIR] [--out DIR]

`$BENCH/fiben` holds `fiben.sqlite` and `tasks.jsonl` ({id, db, question, gold_tables} a line).
"""

from __future__ import annotations

from ready import bench_folder, options, ready_home, sources, table

from suffice.evaluate.tasks import read_solved


def main() -> None:
    arguments = options(__doc__)
    folder = bench_folder("fiben", "fiben.sqlite", "tasks.jsonl")
    if folder is None:
        return
    with ready_home(arguments.home, [folder / "fiben.sqlite"]) as home:
        table("all questions", home, read_solved(folder / "tasks.jsonl", sources(home)), arguments.out)


if __name__ == "__main__":
    main()

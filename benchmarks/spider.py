"""Spider's databases as one catalog, and each alone: the rules beside rankings.

    BENCH=DIR python benchmarks/spider.py [--home DIR] [--out DIR]

`$BENCH/spider` holds `db/*.sqlite` and `tasks.jsonl` ({id, db, question, gold_tables} a line). The shipped weights were
fitted on databases of Spider's train split: what they reach there is no estimate for other databases, which
`suffice evaluate fit` gives by cross-validation over databases.
"""

from __future__ import annotations

from ready import bench_folder, options, ready_home, sources, table

from suffice.evaluate.tasks import read_solved


def main() -> None:
    arguments = options(__doc__)
    folder = bench_folder("spider", "db", "tasks.jsonl")
    if folder is None:
        return
    with ready_home(arguments.home, [folder / "db"]) as home:
        for title, known in (("everything, no database named", False), ("database known", True)):
            tasks = read_solved(folder / "tasks.jsonl", sources(home), known=known)
            table(title, home, tasks, arguments.out)


if __name__ == "__main__":
    main()

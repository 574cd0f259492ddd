"""Lakes of KramaBench, made of files as they were found: the rules beside rankings, a lake at a time.

    BENCH=DIR python benchmarks/krama.py [--home DIR] [--out DIR]

`$BENCH/krama` holds a DuckDB file a lake and `tasks.jsonl` ({id, domain, question, gold_tables} a line).
"""

from __future__ import annotations

from ready import bench_folder, options, ready_home, sources, table

from suffice.evaluate.tasks import read_solved


def main() -> None:
    arguments = options(__doc__)
    folder = bench_folder("krama", "tasks.jsonl")
    if folder is None:
        return
    with ready_home(arguments.home, sorted(folder.glob("*.duckdb"))) as home:
        tasks = read_solved(folder / "tasks.jsonl", sources(home), group_key="domain", known=True)
        for lake in sorted({task.group for task in tasks}):
            table(lake, home, [task for task in tasks if task.group == lake], arguments.out)
        table("all lakes, each task in its own", home, tasks, arguments.out)


if __name__ == "__main__":
    main()

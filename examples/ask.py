"""Ask a home from Python: the smallest set of tables for each task, as an agent or a job would.

python examples/ask.py HOME "total of the orders of customers from Paris" ...
"""

from __future__ import annotations

import sys
from pathlib import Path

from suffice.catalogs.home import Home
from suffice.reason.batch import open_selector


def main(home: str, *tasks: str) -> None:
    selector = open_selector(Home(Path(home)))  # catalog and index are read once, at the first task
    for task in tasks:
        answer = selector.select(task)
        print(f"{task}\n  {answer['status']}, confidence {answer['confidence']:.2f}")
        for table in answer["tables"]:
            path = f"{table['source']}.{table['schema']}.{table['table']}"
            print(f"  {path} ({table['role']}): {', '.join(table['columns'])}")
        for join in answer["joins"]:
            print(f"  join on {', '.join(join['left']['columns'])} = {', '.join(join['right']['columns'])}")
        for gap in answer["missing"]:
            print(f"  missing: {gap['text']}")


if __name__ == "__main__":
    main(*sys.argv[1:])

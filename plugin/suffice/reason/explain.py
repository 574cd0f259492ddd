"""Why a set: for each demand the table and column that meet it, with evidence; what is missing; what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from suffice.model import (
    Alternative,
    AssetRole,
    Endpoint,
    Join,
    LeftOut,
    Missing,
    Requirement,
    RequirementKind,
    Selected,
)
from suffice.reason.demands import Demand, Demands
from suffice.reason.grounding import Grounding
from suffice.reason.knowledge import JoinEdge, Knowledge, TableFacts
from suffice.reason.requirements import Task

__all__ = [
    "Answer",
    "Grounded",
    "edges_of",
    "grounded",
    "joins_of",
    "left_out_of",
    "missing_of",
    "requirements_of",
    "selected_of",
]

COVERED = 0.2
"""Share of a demand that must be met before it counts as covered."""


@dataclass(frozen=True, slots=True)
class Grounded:
    """Demand `demand` is met by `table` (a number) to `share` (0..1), through `column` ("" for the table itself)."""

    id: str
    demand: Demand
    table: int
    share: float
    column: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A chosen set: the nodes, and for each the tables that stand in the answer."""

    nodes: tuple[int, ...]
    tables: tuple[tuple[int, ...], ...]


def grounded(task: Task, g: Grounding, demands: Demands, answer: Answer) -> list[Grounded]:
    """For each demand that some table of the answer meets, the one that meets it best."""
    nodes, found = answer.nodes, []
    for i, demand in enumerate(demands.items):
        if demand.pair is not None:
            continue
        met = demands.met[i, list(nodes)]
        at = int(np.argmax(met))
        share = float(met[at] / demand.weight) if demand.weight else 0.0
        if share >= COVERED:
            node = nodes[at]
            table = _best_member(task, g, demand, answer.tables[at])
            column, evidence = _evidence(task, g, demand, node, table)
            found.append(Grounded(f"r{i + 1}", demand, table.number, share, column, evidence))
    return found


def _best_member(task: Task, g: Grounding, demand: Demand, members: Sequence[int]) -> TableFacts:
    tables = g.nodes.knowledge.tables
    if demand.span >= 0:
        holders = {h.table for h in task.values[demand.span].hits}
        return next((tables[m] for m in members if m in holders), tables[members[0]])
    return tables[members[0]]


def _evidence(task: Task, g: Grounding, demand: Demand, node: int, table: TableFacts) -> tuple[str, str]:
    """The column that meets a demand and what shows it."""
    if demand.span >= 0:
        hit = max(
            (h for h in task.values[demand.span].hits if h.table == table.number), key=lambda h: h.count, default=None
        )
        if hit is None:
            return "", f"holds '{demand.text}'"
        return hit.column, f"`{hit.column}` holds '{hit.value}' in {hit.count:,} rows"
    i = demand.term
    strengths = {
        "name": g.by_name[i, node],
        "column": g.by_column[i, node],
        "value": g.by_value[i, node],
        "meaning": g.by_meaning[i, node],
        "name_meaning": g.by_name_meaning[i, node],
    }
    by = max(strengths, key=lambda key: strengths[key])
    if by == "name":
        return "", f"its name says '{demand.text}'"
    if by == "column":
        name = table.columns[g.column[i, node]].name if 0 <= g.column[i, node] < len(table.columns) else ""
        return name, f"`{name}` says '{demand.text}'"
    if by == "value":
        return _value_column(task, i, table), f"holds the value '{demand.text}'"
    if by == "name_meaning":
        return "", f"its name means something near '{demand.text}'"
    name = _nearest_column(g.nodes.knowledge, table, demand.text)
    return name, f"`{name}` means something near '{demand.text}'"


def _value_column(task: Task, term: int, table: TableFacts) -> str:
    at = set(task.terms[term].at)
    hits = [h for v in task.values if at & set(range(v.first, v.last)) for h in v.hits if h.table == table.number]
    return hits[0].column if hits else ""


def _nearest_column(knowledge: Knowledge, table: TableFacts, word: str) -> str:
    start, end = knowledge.column_start[table.number], knowledge.column_start[table.number + 1]
    similar = knowledge.column_vectors[start:end] @ knowledge.embed([word])[0]
    return str(table.columns[int(np.argmax(similar))].name)


def requirements_of(
    found: Sequence[Grounded], missing: Sequence[Missing], demands: Demands, knowledge: Knowledge
) -> tuple[Requirement, ...]:
    """The grounded demands with what covers them, and those that are missing with nothing."""
    listed = [Requirement(f.id, f.demand.text, f.demand.kind, (_place(f, knowledge),)) for f in found]
    for gap in missing:
        at = int(gap.requirement[1:]) - 1
        kind: RequirementKind = demands.items[at].kind if at < len(demands.items) else "attribute"
        listed.append(Requirement(gap.requirement, gap.text, kind))
    return tuple(sorted(listed, key=lambda r: int(r.id[1:])))


def _place(f: Grounded, knowledge: Knowledge) -> str:
    urn = knowledge.tables[f.table].urn
    return f"{urn}#{f.column}" if f.column else urn


def missing_of(task: Task, g: Grounding, demands: Demands, nodes: Sequence[int]) -> tuple[Missing, ...]:
    """Demands of weight that no table of the set says in words or values, with the nearest thing anywhere in scope.

    When all are said, the one that is met worst.
    """
    gaps: list[tuple[float, Missing]] = []
    worst: tuple[float, Missing] | None = None
    for i, demand in enumerate(demands.items):
        if demand.pair is not None or not demand.weight:
            continue
        rows = g.lexical[demand.term] if demand.term >= 0 else g.value[demand.span]
        said = float(rows[list(nodes)].max(initial=0.0))
        gap = Missing(f"r{i + 1}", demand.text, _nearest(task, g, demand))
        if said < COVERED:
            gaps.append((demand.weight, gap))
        loss = demand.weight * (1 - said)
        if worst is None or loss > worst[0]:
            worst = (loss, gap)
    for n, span in enumerate(task.unfound):
        if span.quoted:
            gaps.append((9.0, Missing(f"r{len(demands.items) + n + 1}", span.text)))
    if gaps:
        return tuple(gap for _, gap in sorted(gaps, key=lambda item: -item[0])[:6])
    return (worst[1],) if worst else (Missing("r1", task.text.strip()[:200]),)


def _nearest(task: Task, g: Grounding, demand: Demand) -> str:
    if demand.term < 0:
        return ""
    i = demand.term
    strength = np.maximum(g.by_meaning[i], g.by_name_meaning[i])
    node = int(np.argmax(strength)) if strength.size else -1
    if node < 0 or strength[node] <= 0.05:
        return ""
    table = g.nodes.knowledge.tables[g.nodes.first[node]]
    if g.by_name_meaning[i, node] >= g.by_meaning[i, node]:
        return str(table.asset.path)
    return f"{table.asset.path}.{_nearest_column(g.nodes.knowledge, table, demand.text)}"


def edges_of(task: Task, g: Grounding, nodes: Sequence[int]) -> list[tuple[int, int, JoinEdge]]:
    """The joins that connect the set (pairs of positions in `nodes`): the strongest tree, and of several keys between
    two tables the one that the task speaks of."""
    knowledge, said = g.nodes.knowledge, {t.stem for t in task.terms}
    links = []
    for a in range(len(nodes)):
        for b in range(a + 1, len(nodes)):
            best = _route(knowledge, g.nodes.members[nodes[a]], g.nodes.members[nodes[b]], said)
            if best is not None:
                links.append((a, b, best))
    links.sort(key=lambda link: -link[2].strength)
    root = list(range(len(nodes)))
    tree = []
    for a, b, edge in links:
        if root[a] != root[b]:
            root = [root[a] if r == root[b] else r for r in root]
            tree.append((a, b, edge))
    return tree


def _route(knowledge: Knowledge, left: Sequence[int], right: Sequence[int], said: set[str]) -> JoinEdge | None:
    routes = [e for a in left for b in right for e in knowledge.between.get((min(a, b), max(a, b)), ())]

    def fits(edge: JoinEdge) -> tuple[float, float]:
        words = [c.stems for c in knowledge.tables[edge.left].columns if c.name in edge.left_columns]
        return sum(bool(said & set(stems)) for stems in words) / max(1, len(words)), edge.strength

    return max(routes, key=fits, default=None)


def joins_of(edges: Sequence[tuple[int, int, JoinEdge]], knowledge: Knowledge) -> tuple[Join, ...]:
    tables = knowledge.tables
    return tuple(
        Join(
            Endpoint(tables[e.left].urn, e.left_columns),
            Endpoint(tables[e.right].urn, e.right_columns),
            e.match,
            e.unique,
            "declared" if e.kind == "declared" else "remembered" if e.kind == "remembered" else "measured",
        )
        for _, _, e in edges
    )


def selected_of(
    answer: Answer,
    found: Sequence[Grounded],
    edges: Sequence[tuple[int, int, JoinEdge]],
    knowledge: Knowledge,
    generic: Sequence[Grounded],
) -> tuple[Selected, ...]:
    """The tables of the answer, each with its part in it."""
    chosen = []
    for at, tables in enumerate(answer.tables):
        for number in tables:
            mine = [f for f in found if f.table in tables]
            also = [f for f in generic if f.table in tables]
            keys = [
                c
                for a, b, e in edges
                if at in (a, b)
                for c in (e.left_columns if e.left in tables else e.right_columns)
            ]
            chosen.append(_selected(knowledge.tables[number], mine, also, keys, edges, at, knowledge))
    return tuple(chosen)


def _selected(
    table: TableFacts,
    mine: Sequence[Grounded],
    also: Sequence[Grounded],
    keys: Sequence[str],
    edges: Sequence[tuple[int, int, JoinEdge]],
    at: int,
    knowledge: Knowledge,
) -> Selected:
    asset = table.asset
    said = [c for f in (*mine, *also) if (c := f.column)]
    columns = tuple(dict.fromkeys(c for c in (*said, *keys) if asset.column(c) is not None))
    evidence = [f.evidence for f in mine]
    evidence += [_join_evidence(e, knowledge) for a, b, e in edges if at in (a, b) and e.left == table.number]
    if table.rows is not None:
        evidence.append(f"{table.rows:,} rows" + (f", {', '.join(table.degraded)}" if table.degraded else ""))
    if table.use_why and table.use == table.number:
        evidence.append(table.use_why)
    return Selected(
        urn=asset.urn,
        source=asset.source,
        schema=asset.schema,
        table=asset.name,
        role=_role([*mine, *also]),
        covers=tuple(f.id for f in (*mine, *also)),
        columns=columns,
        evidence=tuple(dict.fromkeys(evidence)),
        trust=table.trust,
    )


def _role(mine: Sequence[Grounded]) -> AssetRole:
    if not mine:
        return "bridges"
    return "filters" if all(f.demand.kind in ("value", "time", "place") for f in mine) else "answers"


def _join_evidence(edge: JoinEdge, knowledge: Knowledge) -> str:
    other = knowledge.tables[edge.right].asset.name
    share = "" if edge.match is None else f", {edge.match:.1%} of its values found there"
    return f"`{', '.join(edge.left_columns)}` refers to {other} ({edge.kind}{share})"


def left_out_of(answer: Answer, g: Grounding, score: Sequence[float], *, most: int = 12) -> tuple[LeftOut, ...]:
    """Copies that gave way to a chosen table, and the nearest tables that add nothing to the set."""
    knowledge = g.nodes.knowledge
    chosen = {t for tables in answer.tables for t in tables}
    out = []
    for number, use in g.nodes.replaced.items():
        if use in chosen:
            table = knowledge.tables[number]
            out.append(LeftOut(table.asset.path, table.use_why or f"{knowledge.tables[use].asset.name} holds its rows"))
    for at, node in enumerate(answer.nodes):
        rest = [m for m in g.nodes.members[node] if m not in answer.tables[at]]
        out += [
            LeftOut(knowledge.tables[m].asset.path, "a part of the same data that the task does not name") for m in rest
        ]
    sources = {knowledge.tables[t].asset.source for t in chosen}
    inside = set(answer.nodes)
    near = [i for i in np.argsort(-np.asarray(score), kind="stable") if int(i) not in inside][:5]
    for i in near:
        table = knowledge.tables[g.nodes.first[i]]
        why = (
            "says nothing that the set does not say"
            if table.asset.source in sources
            else "another source, which covers less of the task"
        )
        out.append(LeftOut(table.asset.path, why))
    return tuple(out[: most if len(out) > 200 else len(out)])


def differs(one: Sequence[int], other: Sequence[int], knowledge: Knowledge) -> str:
    """How another set differs from the answer, in words."""
    more, less = set(other) - set(one), set(one) - set(other)
    if not set(one) & set(other):
        sources = {knowledge.tables[n].asset.source for n in other}
        return f"other tables, of {', '.join(sorted(sources))}"
    if more and less:
        return f"{_names(more, knowledge)} in place of {_names(less, knowledge)}"
    return f"with {_names(more, knowledge)}" if more else f"without {_names(less, knowledge)}"


def _names(numbers: Iterable[int], knowledge: Knowledge) -> str:
    return ", ".join(knowledge.tables[n].asset.name for n in sorted(numbers))


def alternative(one: Sequence[int], other: Sequence[int], probability: float, knowledge: Knowledge) -> Alternative:
    paths = tuple(knowledge.tables[n].asset.path for n in other)
    return Alternative(paths, round(probability, 3), differs(one, other, knowledge))

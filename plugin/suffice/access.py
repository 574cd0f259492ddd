"""What a caller may see: a scope of tables, and answers in which the others leave no trace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from suffice.model import Asset, Scope

__all__ = ["Access"]


class Access:
    """The tables of `scope`; `cleaned` takes out of any answer what names another table of the catalog.

    >>> from suffice.model import Asset
    >>> a, b = (Asset(f"urn:{n}", "shop", "main", n, "sqlite") for n in ("orders", "salaries"))
    >>> access = Access(Scope(("shop", "!shop.main.salaries")), [a, b])
    >>> access.cleaned({"tables": ["urn:orders", "urn:salaries"], "why": "as in salaries", "n": 1})
    {'tables': ['urn:orders'], 'why': '', 'n': 1}
    """

    def __init__(self, scope: Scope, assets: Iterable[Asset]) -> None:
        self.scope = scope
        known = list(assets)
        shown = {a.name.casefold() for a in known if scope.admits_asset(a)}
        hidden = [a for a in known if not scope.admits_asset(a)]
        urns = {a.urn for a in hidden} | {a.path for a in hidden}
        # A name that a visible table has as well gives nothing away.
        names = {a.name for a in hidden if a.name.casefold() not in shown}
        texts = sorted(urns | names, key=len, reverse=True)
        self._hidden = re.compile("|".join(rf"(?<!\w){re.escape(t)}(?!\w)" for t in texts), re.I) if texts else None

    def cleaned(self, value: Any) -> Any:
        """The same JSON without list items and texts that name a hidden table; a mapping loses such keys."""
        if self._hidden is None:
            return value
        if isinstance(value, str):
            return "" if self._hidden.search(value) else value
        if isinstance(value, Mapping):
            return {k: self.cleaned(v) for k, v in value.items() if not self._hidden.search(str(k))}
        if isinstance(value, list | tuple):
            return [self.cleaned(v) for v in value if not self._names_hidden(v)]
        return value

    def _names_hidden(self, value: Any) -> bool:
        """Whether a list item is about a hidden table: it is its name, or one of its own fields is."""
        texts = [value] if isinstance(value, str) else value.values() if isinstance(value, Mapping) else ()
        return any(isinstance(t, str) and self._hidden is not None and self._hidden.fullmatch(t) for t in texts)

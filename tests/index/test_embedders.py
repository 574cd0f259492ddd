"""The real model, once: both ways of running it agree, and nothing heavy or remote is touched."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from suffice.errors import SufficeError
from suffice.extend import Embedder
from suffice.libs.onnx_minilm import OnnxMiniLM
from suffice.libs.sentence_transformers import SentenceTransformerEmbedder
from suffice.libs.weights import model_folder, model_name
from suffice.testing import HashEmbedder

TEXTS = ["orders of a customer", "", "Größe und Straße", "flights delayed by weather", "word " * 600, "a"]

ALONE = """
import socket, sys
class Cut(socket.socket):
    def __init__(self, *a, **k): raise OSError("the network is cut")
socket.socket = Cut
{before}
from suffice.libs.onnx_minilm import OnnxMiniLM
vectors = OnnxMiniLM().embed(["orders of a customer", "tax law"])
print([name for name in ("torch", "transformers", "sentence_transformers") if name in sys.modules])
"""


def run(cache: Path, before: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ALONE.format(before=before)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={"PATH": "/usr/bin:/bin", "SUFFICE_CACHE": str(cache)},
    )  # fmt: skip


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that two processes filled at the same time."""
    cache = tmp_path_factory.mktemp("cache")
    for started in [run(cache), run(cache)]:
        _, talk = started.communicate(timeout=300)
        assert started.returncode == 0, talk
    return cache


@pytest.fixture
def in_cache(exported: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUFFICE_CACHE", str(exported))
    return exported


def test_two_processes_export_one_graph(exported: Path) -> None:
    assert len(list(exported.rglob("*.onnx"))) == 1
    assert list(exported.rglob("*.aside")) == []


def test_case_35_once_exported_nothing_heavy_and_no_network(exported: Path) -> None:
    out, talk = run(exported).communicate(timeout=120)
    assert out.strip() == "[]", talk


def test_without_torch_the_export_says_what_to_install(tmp_path: Path) -> None:
    started = run(tmp_path, "sys.modules['torch'] = None")
    _, talk = started.communicate(timeout=120)
    assert "pip install 'suffice[export]'" in talk
    assert list(tmp_path.rglob("*.onnx")) == []


def test_both_ways_give_the_same_vectors(in_cache: Path) -> None:
    onnx, torch = OnnxMiniLM(), SentenceTransformerEmbedder()
    one, other = onnx.embed(TEXTS), torch.embed(TEXTS)
    assert (onnx.name, onnx.width, onnx.window) == (torch.name, torch.width, torch.window) == (onnx.name, 384, 256)
    assert onnx.name.startswith("all-MiniLM-L6-v2@")
    assert ((one * other).sum(axis=1) > 0.9999).all()
    assert np.allclose(np.linalg.norm(one, axis=1), 1, atol=1e-5)
    assert onnx.count_tokens(TEXTS[4]) == torch.count_tokens(TEXTS[4]) == 602
    assert torch.embed([]).shape == onnx.embed([]).shape == (0, 384)


def test_a_batch_changes_no_vector(in_cache: Path) -> None:
    embedder = OnnxMiniLM()
    texts = [f"{'longer ' * (i % 7)}text {i}" for i in range(70)]
    alone = np.concatenate([embedder.embed([text]) for text in texts[:20]])
    assert np.allclose(embedder.embed(texts)[:20], alone, atol=1e-5)


def test_a_damaged_export_is_made_again(in_cache: Path) -> None:
    [graph] = in_cache.rglob("*.onnx")
    graph.write_bytes(graph.read_bytes()[:1000])
    assert OnnxMiniLM().embed(["x"]).shape == (1, 384)


def test_weights_that_are_not_the_published_ones_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_CACHE", str(tmp_path))
    monkeypatch.setattr("suffice.libs.weights.PACKAGED_SHA256", "0" * 64)
    with pytest.raises(SufficeError, match="not the published ones"):
        OnnxMiniLM()


def test_the_note_of_a_digest_is_dropped_when_a_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "own-model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"hidden_size": 8}))
    (folder / "model.safetensors").write_bytes(b"one")
    before = model_name(model_folder(str(folder)))
    assert before.startswith("own-model@") and model_name(folder) == before
    (folder / "model.safetensors").write_bytes(b"other")
    assert model_name(folder) != before


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    for make in (OnnxMiniLM, SentenceTransformerEmbedder):
        with pytest.raises(SufficeError, match="embedder_model"):
            make(str(tmp_path))


def test_all_are_embedders(in_cache: Path) -> None:
    for embedder in (OnnxMiniLM(), HashEmbedder(), SentenceTransformerEmbedder()):
        assert isinstance(embedder, Embedder)

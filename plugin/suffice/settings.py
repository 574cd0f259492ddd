"""What is in force and from where: flags beat `SUFFICE_*` variables beat `suffice.toml` beat the defaults.

Secrets come from the environment only: `SUFFICE_PASSWORD_<SOURCE>` is the password of a source's URL.
"""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from suffice.errors import SettingsError

__all__ = ["FILE_NAME", "Settings", "SourceSettings", "load_settings", "origins"]

FILE_NAME = "suffice.toml"


class SourceSettings(BaseModel):
    """`[sources.NAME]`: where the rows of a source are, when not where they were ingested from."""

    model_config = ConfigDict(extra="forbid")

    url: str = Field(description="SQLAlchemy URL or path, without password")


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="SUFFICE_", env_nested_delimiter="__", extra="forbid")

    catalog: str = Field("", description="SQLAlchemy URL of the local catalog; empty: catalog.db under the home")
    embedder: str = Field("minilm-onnx", description="Entry point of `suffice.embedders` that index and search use")
    embedder_model: str = Field("", description="Folder of another model for the embedder; empty: the packaged one")
    policy: str = Field("rules", description="Entry point of `suffice.policies` that `select` uses")
    memory: Literal["off", "push", "pull", "after-look"] = Field(
        "after-look", description="Whether memories of solved tasks may move an answer, and when (`select --memory`)"
    )
    model: str = Field("", description="Language model by its litellm name (`openai/gpt-4o-mini`); empty: none is used")
    model_api_base: str = Field("", description="URL of an OpenAI-compatible server, for a model of one's own")
    model_timeout_s: float = Field(120.0, gt=0, description="Seconds after which one reply of the model is given up")
    budget_tokens: int = Field(0, ge=0, description="Tokens that one run may spend on the model; 0: no bound")
    expectations: bool = Field(False, description="Run Great Expectations suites on tables that have copies; slow")
    max_rows: int = Field(1_000_000, ge=1_000, description="Rows of a table fetched for profiling; above it, a sample")
    max_values: int = Field(1_000, ge=0, description="Distinct texts of a column kept for value look-up; 0 keeps none")
    query_timeout_s: float = Field(60.0, gt=0, description="Seconds after which one statement on the data is cut")
    sample_values: bool = Field(True, description="False: no value of the data enters descriptions, index or values")
    log_format: Literal["text", "json"] = Field("text", description="Talk on stderr as text or as JSON lines")
    sources: dict[str, SourceSettings] = Field(default_factory=dict, description="`[sources.NAME]` tables")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        file = cls.model_config.get("toml_file")
        toml = TomlConfigSettingsSource(settings_cls, toml_file=file)
        return (init_settings, env_settings, toml)


def load_settings(home: Path, **flags: Any) -> Settings:
    """The settings in force at `home`. Raises SettingsError naming the key, the place and the nearest valid key."""
    path = home / FILE_NAME
    given = {key: value for key, value in flags.items() if value is not None}
    bound = type("Settings", (Settings,), {"model_config": {**Settings.model_config, "toml_file": path}})
    try:
        loaded = bound(**given)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}", mend="correct that line") from error
    except ValidationError as error:
        raise _explained(error, path) from error
    return Settings.model_construct(**{name: getattr(loaded, name) for name in Settings.model_fields})


def origins(home: Path, **flags: Any) -> dict[str, str]:
    """Where each setting in force comes from: "flag", "variable", "file" or "default"."""
    import os

    path = home / FILE_NAME
    in_file = tomllib.loads(path.read_text()) if path.exists() else {}
    found = {}
    for name in Settings.model_fields:
        variable = f"SUFFICE_{name.upper()}"
        if flags.get(name) is not None:
            found[name] = "flag"
        elif any(v == variable or v.startswith(f"{variable}__") for v in os.environ):
            found[name] = "variable"
        else:
            found[name] = "file" if name in in_file else "default"
    return found


def _explained(error: ValidationError, path: Path) -> SettingsError:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        top = len(first["loc"]) == 1
        valid = list(Settings.model_fields if top else SourceSettings.model_fields)
        near = difflib.get_close_matches(str(first["loc"][-1]), valid, n=1, cutoff=0.3)
        return SettingsError(f"unknown setting '{key}' in {path}", mend=f"did you mean '{(near or valid)[0]}'?")
    return SettingsError(f"setting '{key}': {first['msg']}", mend=f"correct it in {path} or its SUFFICE_* variable")

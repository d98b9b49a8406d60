"""Causal language models of `transformers`, by name, revision, folder or GGUF file."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import io
import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ngramscope.corpus.tokens import rules_digest
from ngramscope.errors import InputError, MissingExtraError, NgramscopeError, UsageError
from ngramscope.models.place import Place
from ngramscope.models.threads import pick_threads

if TYPE_CHECKING:
    import torch

__all__ = ["UNLIMITED", "LoadedModel", "ModelOptions", "load_model", "place_of", "tokenizer_digest"]

UNLIMITED = 1 << 30
"""`LoadedModel.context` of models without a longest text."""

_CONTEXT = ("max_position_embeddings", "max_sequence_length", "max_seq_len", "seq_length", "n_ctx")
_BLOCK = 1 << 22


@dataclass(frozen=True)
class ModelOptions:
    """Which model, and how it is to be held.

    Parameters
    ----------
    name
        Name on the Hugging Face hub, a folder that ``save_pretrained`` wrote, or a ``.gguf`` file.
    revision
        Branch, tag or commit on the hub, as ``step99000``.
    dtype
        Numbers of the weights; ``auto``: float32 on a processor, the checkpoint's own type on a card.
    device
        ``auto`` takes a CUDA card, else MPS, else the processor.
    device_map
        As ``accelerate`` has it: ``auto`` spreads a model over several cards; then `device` has no say.
    quantize
        Weights of 8 or 4 bits, by bitsandbytes, on a CUDA card.
    gguf_file
        A GGUF file inside the folder or repository `name`; its weights are unpacked.
    tokenizer
        Name or folder of another tokenizer than the model's.
    trust_remote_code
        Whether code that comes with the model may run.
    threads
        Of torch on a processor; None: `pick_threads` tries.

    Raises
    ------
    UsageError
        Values that cannot be, or not together.
    """

    name: str
    revision: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    device: str = "auto"
    device_map: str | None = None
    quantize: Literal["8bit", "4bit"] | None = None
    gguf_file: str | None = None
    tokenizer: str | None = None
    trust_remote_code: bool = False
    threads: int | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise UsageError("--model: '' is not possible; a name on the hub, a folder, or a .gguf file")
        for option, value, known in (
            ("--dtype", self.dtype, ("auto", "float32", "bfloat16", "float16")),
            ("--quantize", self.quantize, (None, "8bit", "4bit")),
        ):
            if value not in known:
                raise UsageError(f"{option}: {value!r} is not one of {', '.join(each for each in known if each)}")
        if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", self.device):
            raise UsageError(f"--device: {self.device!r} is not one of auto, cpu, mps, cuda, cuda:N")
        if self.threads is not None and (isinstance(self.threads, bool) or self.threads < 1):
            raise UsageError(f"--threads: {self.threads!r} is not possible; a whole number of at least 1")
        if self.quantize and self.gguf_file:
            raise UsageError("--quantize: a GGUF file has its own; its weights are unpacked")


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A causal language model, ready for scoring, and its tokenizer.

    Wraps a model that is in memory already too: ``LoadedModel(model.eval(), tokenizer, "mine")``.

    Attributes
    ----------
    model
        The ``transformers`` model, in evaluation mode.
    tokenizer
        Its tokenizer; nothing here ever changes it.
    label
        What reports call it: its name, with ``@revision`` if one was asked for.
    files
        The files its weights came from, if these are local; else none.
    quantization
        8bit, 4bit, gguf, or None.
    """

    model: Any
    tokenizer: Any
    label: str
    files: tuple[Path, ...] = ()
    revision: str | None = None
    quantization: str | None = None

    @property
    def device(self) -> torch.device:
        """Where token ids go: the device of the embeddings."""
        return place_of(self.model.get_input_embeddings())

    @property
    def context(self) -> int:
        """Most tokens that the model can see; `UNLIMITED` if it says none."""
        config = self.model.config.get_text_config()
        sizes = [getattr(config, name, None) for name in _CONTEXT]
        return next((int(size) for size in sizes if isinstance(size, int) and size > 0), UNLIMITED)

    @property
    def vocabulary(self) -> int:
        """How many token ids the model knows."""
        return int(self.model.get_input_embeddings().weight.shape[0])

    @cached_property
    def digest(self) -> str | None:
        """SHA-256 of the weights: of local files by name and content, or of a model made in memory; None for one of the hub."""
        if self.files:
            digest = hashlib.sha256()
            for path in self.files:
                digest.update(f"{path.name} {_sha256(path)}\n".encode())
            return digest.hexdigest()
        if self.commit:
            return None
        digest = hashlib.sha256(repr(self.model.config.to_dict()).encode())
        for name, tensor in sorted(self.model.state_dict().items()):
            import torch

            data = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            digest.update(f"{name} {tuple(tensor.shape)}\n".encode())
            digest.update(data.numpy().data)
        return digest.hexdigest()

    @property
    def commit(self) -> str | None:
        """Commit on the hub."""
        return getattr(self.model.config, "_commit_hash", None)

    def facts(self) -> dict[str, Any]:
        """What a store records of it, ready for JSON; equal facts give equal scores, up to rounding."""
        import tokenizers
        import torch
        import transformers

        return {
            "label": self.label,
            "revision": self.revision,
            "commit": self.commit,
            "digest": self.digest,
            "class": type(self.model).__name__,
            "parameters": sum(each.numel() for each in self.model.parameters()),
            "vocabulary": self.vocabulary,
            "context": None if self.context == UNLIMITED else self.context,
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "device": self.device.type,
            "quantization": self.quantization,
            "tokenizer": {"class": type(self.tokenizer).__name__, "digest": tokenizer_digest(self.tokenizer)},
            "libraries": {
                "torch": torch.__version__,
                "transformers": transformers.__version__,
                "tokenizers": tokenizers.__version__,
            },
        }


def load_model(options: ModelOptions) -> LoadedModel:
    """Load a model and its tokenizer.

    Raises
    ------
    InputError
        There is no such model, it cannot be read, or it is no causal language model.
    MissingExtraError
        `torch` or `transformers` is not installed.
    UsageError
        The device or the option is not to be had here.
    """
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtraError(error.name or "torch", "attacks", "scoring with a language model") from error
    where = Place.of(options.name, options.gguf_file)
    common = {"revision": options.revision, "local_files_only": where.offline, "trust_remote_code": options.trust_remote_code}
    common = {key: value for key, value in common.items() if value}
    gguf = {"gguf_file": where.gguf} if where.gguf else {}
    if gguf and importlib.util.find_spec("gguf") is None:
        raise MissingExtraError("gguf", "gguf", f"reading {where.gguf}")
    device = _device(options.device)
    on_card = options.device_map is not None or device != "cpu"
    with _refusals(options.name, where), _quiet():
        loader: Any = transformers.AutoModelForCausalLM
        model, info = loader.from_pretrained(
            where.source,
            dtype=_dtype(options.dtype, on_card=on_card),
            output_loading_info=True,
            **common,
            **gguf,
            **_placing(options, device),
        )
        if options.tokenizer is None:
            tokenizer = transformers.AutoTokenizer.from_pretrained(where.source, **common, **gguf)
        else:
            other = Place.of(options.tokenizer, weights=False)
            trust = options.trust_remote_code
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                other.source, trust_remote_code=trust, **({"local_files_only": True} if other.offline else {})
            )
    if not tokenizer("Some text.", add_special_tokens=False)["input_ids"]:
        raise InputError(
            f"{options.tokenizer or options.name}: its tokenizer finds no token in a text, as one without vocabulary; copy "
            "the model's tokenizer files too, or name another with --tokenizer"
        )
    missing = sorted(info.get("missing_keys") or ())
    if missing:
        raise InputError(
            f"{options.name}: {len(missing)} weights are not in the checkpoint, as {missing[0]}; "
            f"it is no causal language model of the class {type(model).__name__}"
        )
    model.eval().requires_grad_(False)
    if not on_card:
        if options.threads is None:
            pick_threads()
        else:
            torch.set_num_threads(options.threads)
    if _looks_ahead(model, place_of(model.get_input_embeddings())):
        raise InputError(
            f"{options.name}: a {type(model).__name__} sees the tokens that come after the one it predicts; "
            "it is no causal language model"
        )
    label = where.label + (f"@{options.revision}" if options.revision else "")
    quantization = options.quantize or ("gguf" if where.gguf else None)
    return LoadedModel(model, tokenizer, label, where.files, options.revision, quantization)


def _looks_ahead(model: Any, device: torch.device) -> bool:
    """Whether a token changes what is predicted before it; masked models can be loaded as causal ones without a word."""
    import torch

    ids = torch.tensor([[1, 2], [1, 3]], device=device)
    with torch.inference_mode():
        first, second = model(input_ids=ids).logits[:, 0].float()
    tolerance = 1e-4 if model.dtype == torch.float32 else 1e-2
    return bool((first - second).abs().max() > tolerance * (first.max() - first.min()))


def place_of(module: Any) -> torch.device:
    """The device that a module works on: where its weights are, or where accelerate brings them for the time of a call."""
    import torch

    device: torch.device = module.weight.device
    if device.type != "meta":
        return device
    where = module._hf_hook.execution_device
    return torch.device("cuda", where) if isinstance(where, int) else torch.device(where)


def tokenizer_digest(tokenizer: Any) -> str:
    """SHA-256 of what decides a tokenizer's ids, whatever file it came from."""
    if tokenizer.is_fast:
        return rules_digest(tokenizer.backend_tokenizer)
    rules = {"class": type(tokenizer).__name__, "vocabulary": tokenizer.get_vocab()}
    return hashlib.sha256(json.dumps(rules, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    return digest.hexdigest()


def _device(asked: str) -> str:
    import torch

    if asked == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    if asked.startswith("cuda"):
        number = int(asked.partition(":")[2] or 0)
        if number >= torch.cuda.device_count():
            raise UsageError(f"--device: {asked} is not here; torch sees {torch.cuda.device_count()} CUDA cards")
    if asked == "mps" and not torch.backends.mps.is_available():
        raise UsageError("--device: mps is not here")
    return asked


def _dtype(asked: str, *, on_card: bool) -> Any:
    import torch

    if asked == "auto":
        return "auto" if on_card else torch.float32
    return getattr(torch, asked)


def _placing(options: ModelOptions, device: str) -> dict[str, Any]:
    if options.quantize is None:
        return {"device_map": options.device_map or device} if options.device_map or device != "cpu" else {}
    if not device.startswith("cuda"):
        raise UsageError(f"--quantize {options.quantize}: needs a CUDA card")
    try:
        import bitsandbytes  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        raise UsageError(f"--quantize {options.quantize}: needs bitsandbytes: pip install bitsandbytes") from error
    import transformers

    quantizer: Any = transformers.BitsAndBytesConfig
    bits = quantizer(**{f"load_in_{options.quantize}": True})
    return {"device_map": options.device_map or device, "quantization_config": bits}


@contextlib.contextmanager
def _refusals(name: str, where: Place) -> Iterator[None]:
    """One message of ours in place of what transformers raises and logs."""
    try:
        yield
    except NgramscopeError:
        raise
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "a package", "attacks", f"loading {name}") from error
    except Exception as error:  # the libraries raise what they like: also classes of their own
        if not where.files and where.offline and isinstance(error, OSError):
            why, advice = "it is not in the local cache, and the hub cannot be reached", "give a local folder"
        else:
            why = " ".join(str(error).split())[:400].rstrip(".") or type(error).__name__
            advice = "is it a causal language model of transformers?" if where.files else "check the name"
        raise InputError(f"{name}: cannot be loaded: {why}; {advice}") from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the libraries' bars and remarks; what matters in them is checked here."""
    loggers = [logging.getLogger(each) for each in ("transformers", "huggingface_hub")]
    before = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(logging.CRITICAL)
    try:
        # Not all bars have a switch.
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        for each, level in zip(loggers, before, strict=True):
            each.setLevel(level)

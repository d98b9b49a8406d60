"""Which model: options of commands that load one."""

from __future__ import annotations

import click

from ngramscope.cli._options import TEXT, group
from ngramscope.models.load import ModelOptions

__all__ = ["model_options"]

model_options = group(
    "model",
    ModelOptions,
    [
        click.option(
            "--model", "name", required=True, type=TEXT, metavar="MODEL",
            help="A causal language model: a name on the Hugging Face hub, a folder, or a .gguf file.",
        ),
        click.option("--revision", type=TEXT, metavar="REV", help="Branch, tag or commit on the hub, as step99000."),
        click.option(
            "--dtype", type=click.Choice(["auto", "float32", "bfloat16", "float16"]), default="auto", show_default=True,
            help="Type of the weights; auto: float32 on a processor, the checkpoint's own on a card.",
        ),
        click.option("--device-map", type=TEXT, metavar="MAP", help="auto: spread a model over several cards."),
        click.option("--quantize", type=click.Choice(["8bit", "4bit"]), help="By bitsandbytes, on a CUDA card."),
        click.option("--gguf", "gguf_file", type=TEXT, metavar="FILE", help="A GGUF file in the folder or repository NAME."),
        click.option("--tokenizer", type=TEXT, metavar="NAME", help="Another tokenizer than the model's."),
        click.option("--trust-remote-code", is_flag=True, help="Let code that comes with the model run."),
        click.option("--threads", type=int, metavar="N", help="On a processor. Default: a short trial finds the best."),
    ],
)  # fmt: skip

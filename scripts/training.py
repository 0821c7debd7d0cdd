"""What the scripts that train networks share: blocks of layers, the loop, the file, the temperature, options."""

from __future__ import annotations

import hashlib
import io
import math
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click
import numpy as np
import onnx
import torch
from rich.progress import Progress
from torch import nn

Batches = Iterator[tuple[torch.Tensor, ...]]
"""Batches without end: what a network is given, then what its loss is told."""

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)

seed_option = click.option("--seed", default=1, show_default=True)
minutes_option = click.option(
    "--minutes", default=15.0, show_default=True, help="how long each of the networks is trained"
)
start_option = click.option("--start", type=FOLDER, help="a folder of weights to go on from; without it, from scratch")


def out_option(weights: Path) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option of where the weights go: to those that are shipped, unless it is told."""
    return click.option(
        "--out", default=weights, type=click.Path(file_okay=False, path_type=Path), help="where the weights go"
    )


def block(
    given: int, made: int, size: int | tuple[int, int] = 3, stride: int | tuple[int, int] = 1, spread: int = 1
) -> nn.Sequential:
    """A convolution with its normalisation, which keeps the size of the picture but for the stride."""
    rows, columns = (size, size) if isinstance(size, int) else size
    around = (rows // 2 * spread, columns // 2 * spread)
    convolution = nn.Conv2d(given, made, (rows, columns), stride, around, spread, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(made), nn.ReLU(inplace=True))


def for_minutes(minutes: float) -> Iterator[float]:
    """Yield, before each step, the share of the given minutes that has passed."""
    start = time.monotonic()
    while (done := (time.monotonic() - start) / (60 * minutes)) < 1:
        yield done


def for_steps(steps: int) -> Iterator[float]:
    """Yield, before each step, the share of the given steps that is done."""
    return (step / steps for step in range(steps))


def train(
    network: nn.Module,
    batches: Batches,
    loss_of: Callable[..., torch.Tensor],
    shares_done: Iterable[float],
    progress: Progress,
    name: str,
    rate: float = 3e-3,
    weight_decay: float = 1e-2,
    largest_gradient: float = math.inf,
) -> None:
    """Train by AdamW, one batch for each share done; the rate rises at first, then falls like a cosine.

    Gradients are shortened to ``largest_gradient``.
    """
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=weight_decay)
    network.train()
    losses: list[float] = []
    task = progress.add_task(name, total=1.0)
    for done in shares_done:
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, 0.05 + 20 * done) * (0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2)
        given, *truth = next(batches)
        optimiser.zero_grad()
        loss = loss_of(network(given), *truth)
        loss.backward()
        if math.isfinite(largest_gradient):
            nn.utils.clip_grad_norm_(network.parameters(), largest_gradient)
        optimiser.step()
        losses.append(float(loss.detach()))
        recent = float(np.mean(losses[-100:]))
        progress.update(task, completed=done, description=f"{name}: {len(losses)} steps, loss {recent:.3f}")
    network.eval()


def write_network(
    network: nn.Module, file: Path, shape: tuple[int, ...], given: str, told: str, free: dict[int, str] | None = None
) -> str:
    """Write a network as ONNX; gives the file's SHA-256.

    ``shape`` is that of what the network is given, ``given`` and ``told`` name what goes in and comes out. The count is
    free, and so are the dimensions that ``free`` names.
    """
    held = io.BytesIO()
    names = {0: "count", **(free or {})}
    torch.onnx.export(
        network,
        (torch.zeros(shape),),
        held,
        input_names=[given],
        output_names=[told],
        dynamic_axes={given: names, told: names},
        opset_version=13,
        dynamo=False,
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(held.getvalue())
    return hashlib.sha256(held.getvalue()).hexdigest()


def take_convolutions(file: Path, blocks: Iterable[nn.Sequential]) -> list[list[torch.Tensor]]:
    """Give blocks the weights of a file of ``write_network``, where each normalisation is part of its convolution.

    Gives what the layers after the blocks have: of each its matrix and, if there is one, its bias.
    """
    graph = onnx.load(file).graph
    held = {one.name: torch.from_numpy(onnx.numpy_helper.to_array(one).copy()) for one in graph.initializer}
    convolutions = [node for node in graph.node if node.op_type == "Conv"]
    for one, node in zip(blocks, convolutions, strict=True):
        one[0].weight.data, bias = (held[name] for name in node.input[1:])
        one[0].bias = nn.Parameter(bias)
        one[1] = nn.Identity()
    return [[held[name] for name in node.input[1:]] for node in graph.node if node.op_type == "Gemm"]


def fitted_temperature(scores: torch.Tensor, kinds: torch.Tensor) -> float:
    """The temperature (Guo et al., 2017) by which scores (n, kinds) of what was not trained on come true most often."""
    tried = [0.5 + 0.05 * step for step in range(41)]
    losses = [float(nn.functional.cross_entropy(scores / one, kinds)) for one in tried]
    return round(tried[int(np.argmin(losses))], 3)

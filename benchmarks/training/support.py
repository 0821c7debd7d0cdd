"""Shared by the training scripts: convolution blocks, training loop, ONNX files, temperature, options."""

from __future__ import annotations

import hashlib
import io
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import click
import numpy as np
import onnx
import torch
from rich.progress import Progress
from torch import nn

Batches = Iterator[tuple[torch.Tensor, ...]]
"""Infinite batches: a network's input, then the targets of its loss."""

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)

seed_option = click.option("--seed", default=1, show_default=True)
minutes_option = click.option("--minutes", default=15.0, show_default=True, help="training time of each network")
start_option = click.option("--start", type=FOLDER, help="folder of weights to start from  [default: random]")


def out_option(weights: Path) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The option for the output folder, by default the shipped weights."""
    return click.option(
        "--out", default=weights, type=click.Path(file_okay=False, path_type=Path), help="output folder"
    )


def block(
    inputs: int, outputs: int, size: int | tuple[int, int] = 3, stride: int | tuple[int, int] = 1, dilation: int = 1
) -> nn.Sequential:
    """A same-padded convolution of dilation ``dilation``, with batch normalisation and ReLU."""
    rows, columns = (size, size) if isinstance(size, int) else size
    padding = (rows // 2 * dilation, columns // 2 * dilation)
    convolution = nn.Conv2d(inputs, outputs, (rows, columns), stride, padding, dilation, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


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
    progress_shares: Iterable[float],
    progress: Progress,
    name: str,
    rate: float = 3e-3,
    weight_decay: float = 1e-2,
    largest_gradient: float = math.inf,
) -> None:
    """Train with AdamW, one batch for each share done; the rate warms up, then follows a cosine schedule.

    Gradients are clipped to the norm ``largest_gradient``.
    """
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=weight_decay)
    network.train()
    losses: list[float] = []
    task = progress.add_task(name, total=1.0)
    for done in progress_shares:
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
    network: nn.Module,
    file: Path,
    shape: tuple[int, ...],
    input_name: str,
    output_name: str,
    free: dict[int, str] | None = None,
) -> str:
    """Write a network as ONNX; give the file's SHA-256.

    ``shape`` is the input's. The first dimension is dynamic, and so are those that ``free`` names.
    """
    buffer = io.BytesIO()
    names = {0: "count", **(free or {})}
    torch.onnx.export(
        network,
        (torch.zeros(shape),),
        buffer,
        input_names=[input_name],
        output_names=[output_name],
        dynamic_axes={input_name: names, output_name: names},
        opset_version=13,
        dynamo=False,
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(buffer.getvalue())
    return hashlib.sha256(buffer.getvalue()).hexdigest()


def update_sums(folder: Path, sums: Mapping[str, object]) -> None:
    """Write values of networks, such as their SHA-256, into a folder's ``weights.json``; its others are kept."""
    file = folder / "weights.json"
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(before | dict(sums), indent=2) + "\n", encoding="utf-8")


def take_convolutions(file: Path, blocks: Iterable[nn.Sequential | nn.Conv2d]) -> list[list[torch.Tensor]]:
    """Load blocks and convolutions from a file of ``write_network``, in which normalisations are folded.

    Gives the matrix and, if there is one, the bias of each dense layer after the blocks.
    """
    graph = onnx.load(file).graph
    weights = {one.name: torch.from_numpy(onnx.numpy_helper.to_array(one).copy()) for one in graph.initializer}
    convolutions = [node for node in graph.node if node.op_type == "Conv"]
    for one, node in zip(blocks, convolutions, strict=True):
        convolution = one if isinstance(one, nn.Conv2d) else one[0]
        convolution.weight.data, bias = (weights[name] for name in node.input[1:])
        convolution.bias = nn.Parameter(bias)
        if isinstance(one, nn.Sequential):
            one[1] = nn.Identity()
    return [[weights[name] for name in node.input[1:]] for node in graph.node if node.op_type == "Gemm"]


def renormalise(network: nn.Sequential, batch: torch.Tensor) -> None:
    """Put a normalisation behind each convolution that has none, which changes no output but trains faster.

    The means and variances are those of the batch.
    """
    with torch.no_grad():
        for part in network:
            if isinstance(part, nn.Sequential) and isinstance(part[1], nn.Identity):
                given = part[0](batch)
                variance, mean = torch.var_mean(given, dim=(0, 2, 3))
                layer = nn.BatchNorm2d(given.shape[1])
                layer.running_mean, layer.running_var = mean, variance
                layer.weight.data, layer.bias.data = (variance + layer.eps).sqrt(), mean.clone()
                part[1] = layer
            batch = part(batch) if not isinstance(part, nn.Dropout) else batch


def blend(network: nn.Module, before: dict[str, torch.Tensor], share: float) -> None:
    """Interpolate all weights towards those before, by ``share``."""
    with torch.no_grad():
        for name, value in network.state_dict().items():
            if value.is_floating_point():
                value.lerp_(before[name], share)


def fitted_temperature(scores: torch.Tensor, kinds: torch.Tensor) -> float:
    """The temperature (Guo et al., 2017) that best calibrates the scores (n, kinds) of held-out samples."""
    candidates = [0.5 + 0.05 * step for step in range(41)]
    losses = [float(nn.functional.cross_entropy(scores / one, kinds)) for one in candidates]
    return round(candidates[int(np.argmin(losses))], 3)

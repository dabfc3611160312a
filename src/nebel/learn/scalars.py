"""Metrics for TensorBoard."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nebel.core.errors import BadFile, BadSetting
from nebel.core.output import check_folder
from nebel.learn.nets import torch

if TYPE_CHECKING:
    from nebel.learn.drive import News


def scalars_in(folder: str) -> Callable[[News], None]:
    """Return a function that writes what is new into a folder that TensorBoard shows, by iteration.

    Raises `BadFile` if nothing can be written there, and so does the function if the disk is full.
    """
    _ = torch.Tensor  # says so if torch is missing
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise BadSetting("--tensorboard takes TensorBoard; install it with: pip install tensorboard") from error
    check_folder(Path(folder))
    threading.excepthook = _without_writers(threading.excepthook)
    try:
        writer = SummaryWriter(folder)
    except OSError as error:
        raise _unwritable(folder, error) from error

    def write(news: News) -> None:
        try:
            for name, value in news.metrics.items():
                writer.add_scalar(name, value, news.iterations)
            writer.flush()
        except OSError as error:
            raise _unwritable(folder, error) from error

    return write


def _without_writers(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Leave errors of TensorBoard's writing thread to `flush`, which raises them, too."""

    def tell(args: Any) -> None:
        if not type(args.thread).__module__.startswith("tensorboard."):
            hook(args)

    return tell


def _unwritable(folder: str, error: OSError) -> BadFile:
    return BadFile(f"{folder} cannot be written: {error.strerror or error}")

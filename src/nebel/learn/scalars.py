"""Metrics for TensorBoard."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nebel.core.errors import BadSetting

if TYPE_CHECKING:
    from nebel.learn.drive import News


def scalars_in(folder: str) -> Callable[[News], None]:
    """Writes what is new into a folder that TensorBoard shows, by iteration."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise BadSetting("--tensorboard takes TensorBoard; install it with: pip install tensorboard") from error
    try:
        writer = SummaryWriter(folder)
    except OSError as error:
        raise BadSetting(f"{folder} cannot be written: {error.strerror or error}") from error

    def write(news: News) -> None:
        for name, value in news.metrics.items():
            writer.add_scalar(name, value, news.iterations)
        writer.flush()

    return write

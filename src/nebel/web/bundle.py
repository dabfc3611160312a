"""plotly's own bundle for the charts of the page, as the installed package has it."""

from __future__ import annotations

import gzip
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response

from nebel.web.house import Here

router = APIRouter(include_in_schema=False)

WEEK = 7 * 24 * 3600


@lru_cache(1)
def _file() -> Path:
    """Found without importing plotly, which takes its time."""
    found = find_spec("plotly")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "package_data" / "plotly.min.js"


@lru_cache(1)
def _packed() -> bytes:
    return gzip.compress(_file().read_bytes(), 6)


@router.get("/plotly.js")
async def bundle(request: Request, house: Here) -> Response:
    tag = f'W/"{version("plotly")}"'
    headers = {"Cache-Control": f"private, max-age={WEEK}", "ETag": tag, "Vary": "Accept-Encoding"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return FileResponse(_file(), media_type="text/javascript", headers=headers)
    packed = await house.loaders.run(_packed)
    return Response(packed, media_type="text/javascript", headers=headers | {"Content-Encoding": "gzip"})

"""The app: routers of all parts, the page itself, and what stands before them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

import nebel
from nebel.web import arena, build, bundle, catalogue, look, play, review, runs
from nebel.web.attend import Attend
from nebel.web.guard import Guard
from nebel.web.house import House
from nebel.web.refusal import documented, explain
from nebel.web.setup import Setup

STATIC = Path(__file__).parent / "static"
ROUTERS = (catalogue.router, play.router, look.router, review.router, build.router, arena.router, runs.router, bundle.router)
"""One a part of the page."""


def make_app(setup: Setup) -> ASGIApp:
    """The server of the page, guarded."""

    house = House(setup)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        house.arena.go_on()
        yield
        await house.arena.close()
        house.store.close()

    app = FastAPI(
        title="nebel",
        version=nebel.__version__,
        description="Play, look inside strategies, build them, watch them learn.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses=documented(),
        lifespan=life,
    )
    app.state.house = house
    explain(app)
    for router in ROUTERS:
        app.include_router(router)

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    @app.api_route("/api", methods=["GET", "HEAD"], include_in_schema=False)
    async def interface() -> FileResponse:
        return FileResponse(STATIC / "api.html", headers={"Cache-Control": "no-cache"})

    app.mount("/static", Fresh(directory=STATIC), name="static")
    return Guard(Attend(app, setup.limits), setup)


class Fresh(StaticFiles):
    """Files that browsers ask for again each time, and get only if they changed: an update of the package is seen at once."""

    def file_response(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response

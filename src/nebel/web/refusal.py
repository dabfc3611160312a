"""What is not done, and why: every refusal is one JSON object with an `error` that a person can read."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from nebel.core.errors import Problem

LOG = logging.getLogger("nebel.web")

STATUSES = {
    400: "It makes no sense, or cannot be.",
    401: "The token is missing.",
    403: "The key does not open this, or the request comes from another site.",
    404: "There is no such thing here.",
    408: "The request did not arrive in time.",
    409: "Not now: as the game stands it cannot be done.",
    410: "The game cannot go on.",
    413: "The request is too large.",
    421: "The server is not known by this name.",
    422: "A value is missing, or of the wrong kind.",
    429: "Too much for one visitor: wait a little.",
    500: "The server made a mistake.",
    503: "The server has no room or no time for this.",
    507: "The server cannot write it down, so it has not happened.",
}
"""What the statuses of refusals mean."""
ALWAYS = (400, 401, 403, 408, 413, 421, 422, 429, 500, 503)
"""Those that any request may be answered with."""


REFUSED = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string", "description": "why, in one line"}}}


def documented(*more: int) -> dict[int | str, dict[str, Any]]:
    """For OpenAPI: the refusals of a router, these besides those that any request may meet."""
    content = {"application/json": {"schema": REFUSED}}
    return {status: {"description": STATUSES[status], "content": content} for status in sorted({*ALWAYS, *more})}


class Refusal(Problem):
    """A request that is refused, with the HTTP status that says so to programs."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


def answer(reason: str, status: int) -> JSONResponse:
    return JSONResponse({"error": reason}, status)


async def _problem(request: Request, problem: Exception) -> JSONResponse:
    return answer(str(problem), problem.status if isinstance(problem, Refusal) else 400)


async def _malformed(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return answer("; ".join(_words(found) for found in error.errors()), 422)


def _words(found: Any) -> str:
    where = ".".join(str(part) for part in found["loc"] if part != "body")
    return f"{where}: {found['msg']}" if where else str(found["msg"])


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return answer(f"{request.method} {request.url.path}: {error.detail}", error.status_code)


async def _bug(request: Request, error: Exception) -> JSONResponse:
    LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return answer("the server made a mistake; it is in its log", 500)


def explain(app: FastAPI) -> None:
    """Let every error of the app be answered in one form."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _bug)

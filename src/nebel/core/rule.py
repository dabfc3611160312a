"""Rules: plain Python functions that the library can also compile.

`@rule` marks a function and leaves it as it is, so games can be called, traced and debugged as ordinary Python without
Numba. A solver is a `@kernel`: when it is made, every rule that it reaches through its closure or its globals is compiled
with it, and the machine code is kept on disk.

Numba's own disk cache looks at one function's file only, and would serve old code after an edit elsewhere. Here the name
under which a kernel is stored contains a digest of everything that it can depend on: the code of all functions reached, in
whatever file, and the constants they refer to. Edit any of them and the next run compiles anew; edit nothing and a second
process compiles nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import threading
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from nebel.core.errors import BadRules, FailedRule
from nebel.core.findings import reason
from nebel.core.taken_in import without_machine_code

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "__nebel_rule__"
_COMPILED = "__nebel_compiled__"
_CHECKED = "__nebel_checked__"
_NATIVE = "__nebel_native__"
_BUSY = "__nebel_busy__"
OWN = str(Path(__file__).parents[1])
"""The library's own files."""
_LOCK = threading.RLock()  # threads that need the same kernel first must not compile it twice at once
_OPTIONS = {"error_model": "numpy", "nogil": True, "forceinline": True}
PARALLEL, CHECKED = "-parallel", "-checked"
_MODES: dict[str, dict[str, Any]] = {"": {}, PARALLEL: {"parallel": True}, CHECKED: {"boundscheck": True}}


def rule(function: F) -> F:
    """Mark `function` as compilable; it stays an ordinary Python function."""
    setattr(function, _MARK, True)
    return function


def native(make: Callable[[], Any]) -> Callable[[F], F]:
    """Mark a function as a rule whose compiled twin is not its body but a Numba intrinsic that `make` returns."""

    def mark(function: F) -> F:
        setattr(function, _NATIVE, make)
        return rule(function)

    return mark


def is_rule(value: object) -> bool:
    return getattr(value, _MARK, False) is True


def in_library(function: Callable[..., Any]) -> bool:
    """Whether a function is the library's own, and so tested with bounds checks."""
    return function.__code__.co_filename.startswith(OWN)


def plain_mode() -> bool:
    """True when NUMBA_DISABLE_JIT=1 asks for pure Python throughout."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def _numba_prange() -> Any:
    import numba

    return numba.prange


@native(_numba_prange)
def prange(count: int) -> range:
    """`range`, spread over threads inside a parallel kernel."""
    return range(count)


def kernel(function: F) -> F:
    """Compile `function` with all rules it reaches when it is first called, cached on disk (NUMBA_DISABLE_JIT=1: leave it plain)."""
    return function if plain_mode() else cast(F, _Kernel(function))


def checked_kernel(function: F) -> F:
    """Like `kernel`, and raise IndexError where a rule reads or writes outside an array, as plain Python does."""
    return function if plain_mode() else cast(F, _Kernel(function, CHECKED))


def parallel_kernel(function: F) -> F:
    """Like `kernel`, with its `prange` loops spread over threads."""
    return function if plain_mode() else cast(F, _Kernel(function, PARALLEL))


class _Kernel:
    """A function that will be compiled; until then Numba is not even imported."""

    def __init__(self, function: Callable[..., Any], mode: str = "") -> None:
        self._function, self._mode = function, mode
        self._made: Any = None

    def __call__(self, *args: Any) -> Any:
        if self._made is None:
            with _LOCK:
                self._made = self._made or _compile(self._function, self._mode, cache=True)
        try:
            return self._made(*args)
        except Exception as error:
            if isinstance(error, KeyError) or type(error).__module__.startswith("numba."):
                raise BadRules(f"the rules cannot be compiled: {compiler_reason(error)}; nebel check GAME says which one") from error
            frame = traceback.extract_tb(error.__traceback__)[-1]
            if frame.filename.startswith(OWN):
                raise
            raise FailedRule(f"the rule {frame.name} fails: {reason(error)} ({Path(frame.filename).name}, line {frame.lineno})") from error


WHYS = (
    (r"Untyped global name '(\w+)'.*function", r"it calls '\1', which is neither a @rule nor known to the compiler"),
    (r"Cannot determine Numba type of <class 'function'>", "it calls a function that is neither a @rule nor known to the compiler"),
    (r"\((IMPORT_NAME|IMPORT_FROM)\)", "a rule cannot import; import at the top of the file, and leave all chance to chance's turn"),
    (r"\(STORE_GLOBAL\)", "a rule cannot change a global variable; keep it in a field of the state"),
    (r"reflected list|Cannot type empty list|OverloadSelector.*\(List\(", "it uses a Python list from outside the rule; keep what changes "
     "in a field of the state, such as made=(int64, 9), and constants in a tuple or NumPy array"),
    (r"list\.append for list\((\w+)\).*parameters \((.*)\)", r"it appends \2 to a list of \1; a list holds numbers of one type"),
    (r"Cannot determine Numba type of <class '(\w+)'>", r"it uses a Python \1; use numbers, tuples and NumPy arrays"),
    (r"NumPyRandomGeneratorType|Random", "it draws random numbers; a rule cannot: what is random is chance's turn"),
    (r"exception_match", "a rule cannot use try; test with if instead"),
    (r"^The 'with ", "a rule cannot use with"),
    (r"^'(\w+)'$", r"the state has no field '\1'"),
    (r"^Cannot cast (?:reflected )?(\w+)\b.* to nestedarray\((\w+), \((.*?),?\)\)",
     r"it sets a field of \3 numbers to a \1; write s.field[:] = 0, or set the numbers one by one"),
)  # fmt: skip
"""What the compiler says, as a regular expression, and the same in words."""


def compiler_reason(error: Exception, place: str = "") -> str:
    """The compiler's page in one line: where, and why."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip() and "nopython mode pipeline" not in line]
    why = lines[0] if lines else type(error).__name__
    if why.endswith("found for signature:") and len(lines) > 1:
        why = f"no way to compute {lines[1].removeprefix('>>>').strip()}"
    location = re.findall(r'File "([^"]+)", line (\d+)', text) + re.findall(r"(?:Raised from|\bat) (\S+) \((\d+)\)", text)
    location = [at for at in location if not str(Path(at[0]).resolve()).startswith(OWN)]  # the loops around the rules are the library's
    if location:
        place = f"{Path(location[0][0]).name}, line {location[0][1]}"
    for pattern, words in WHYS:
        if found := re.search(pattern, why) or (pattern[0] != "^" and re.search(pattern, lines[1] if len(lines) > 1 else "")):
            why = found.expand(words)
            break
    return f"{place}: {why}" if place else why


def compiled(function: Callable[..., Any], checked: bool = False) -> Any:
    """The twin of a rule that kernels take in, made once. It is for them alone; to call a rule compiled, make a kernel of it."""
    name = _CHECKED if checked else _COMPILED
    with _LOCK:
        if not hasattr(function, name):
            setattr(function, name, _twin_of(function, checked))
    return getattr(function, name)


def _twin_of(function: Callable[..., Any], checked: bool) -> Any:
    if getattr(function, _BUSY, False):
        raise BadRules(f"the rule {function.__name__} calls itself; rules are compiled into each other, so use a loop")
    setattr(function, _BUSY, True)
    try:
        make = getattr(function, _NATIVE, None)
        return _named(make(), identity(function)) if make else _compile(function, CHECKED if checked else "", cache=False)
    finally:
        delattr(function, _BUSY)


def _compile(function: Callable[..., Any], mode: str, cache: bool) -> Any:
    import numba

    digest = identity(function) + mode
    twin = _with_compiled_rules(cast(types.FunctionType, function), checked=mode == CHECKED)
    if cache:
        twin.__qualname__ = f"{twin.__qualname__}-{digest[:20]}{mode}"
    options: dict[str, Any] = {**_OPTIONS, **_MODES[mode], "no_cfunc_wrapper": True}
    if not cache:
        options |= {"no_cpython_wrapper": True, "pipeline_class": without_machine_code()}
    try:
        dispatcher = numba.njit(cache=cache, **options)(twin)
    except RuntimeError:  # no file to cache beside (a notebook cell, a read-only place): still right, compiled every time
        dispatcher = numba.njit(**options)(twin)
    if cache:
        _leave_out_what_cannot_be_kept(dispatcher)
    return _named(dispatcher, digest)


def _leave_out_what_cannot_be_kept(dispatcher: Any) -> None:
    """Let a full disk cost nothing but the time to compile again."""
    held: Any = getattr(dispatcher, "_cache", None)  # without this private attribute a full disk is an error
    save = getattr(held, "save_overload", None)
    if save:

        def save_if_possible(*given: Any) -> None:
            with contextlib.suppress(OSError):
                save(*given)

        held.save_overload = save_if_possible


def _named(compiled_twin: Any, digest: str) -> Any:
    """Give a compiled object a name that is the same in every process, so that caches of its users are found again."""
    if hasattr(compiled_twin, "_set_uuid"):  # without this private hook all is compiled anew in each process, and still right
        compiled_twin._set_uuid(digest)
    return compiled_twin


def _with_compiled_rules(function: types.FunctionType, checked: bool) -> types.FunctionType:
    """A copy of `function` in which every rule it refers to is replaced by the compiled twin."""
    namespace = function.__globals__
    swaps = {name: compiled(namespace[name], checked) for name in _global_names(function.__code__) if is_rule(namespace.get(name))}
    cells = tuple(
        types.CellType(compiled(cell.cell_contents, checked)) if is_rule(cell.cell_contents) else cell
        for cell in function.__closure__ or ()
    )
    twin = types.FunctionType(
        function.__code__, {**namespace, **swaps} if swaps else namespace, function.__name__, function.__defaults__, cells
    )
    twin.__qualname__ = function.__qualname__
    twin.__module__ = function.__module__
    return twin


def identity(function: Callable[..., Any]) -> str:
    """A digest of all that the behaviour of `function` can depend on."""
    parts = [repr(_OPTIONS), os.environ.get("NUMBA_BOUNDSCHECK", ""), *_describe(function, set())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _describe(value: Any, known: set[int]) -> Iterator[str]:
    value = getattr(value, "py_func", value)
    if isinstance(value, types.FunctionType):
        if id(value) in known:
            return
        known.add(id(value))
        yield value.__qualname__
        yield from _describe_code(value.__code__)
        constants = [cell.cell_contents for cell in value.__closure__ or ()]
        for constant in [*constants, *(value.__defaults__ or ()), getattr(value, _NATIVE, None)]:
            yield from _describe(constant, known)
        names = sorted(_global_names(value.__code__))
        modules = [vars(v) for v in value.__globals__.values() if isinstance(v, types.ModuleType) and _is_ours(v)]
        for name in names:
            for space in (value.__globals__, *modules):
                if name in space:
                    yield name
                    yield from _describe(space[name], known)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype.descr}{value.shape}{hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    elif isinstance(value, (tuple, list)):
        yield type(value).__name__
        for item in value:
            yield from _describe(item, known)
    elif isinstance(value, (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype)):
        yield f"{type(value).__name__} {value!r}"
    else:
        yield getattr(value, "__qualname__", getattr(value, "__name__", type(value).__qualname__))


def _is_ours(module: types.ModuleType) -> bool:
    """Not one of the libraries that all code here shares: Numba itself notices when those change."""
    return module.__name__.split(".")[0] not in {"numpy", "numba", "math", "types", "typing"}


def _describe_code(code: types.CodeType) -> Iterator[str]:
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars}"
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _describe_code(constant)
        else:
            yield repr(constant)


def _global_names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
    return names

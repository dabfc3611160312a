"""Rules that only kernels call are compiled as far as kernels take them in: a fifth of all time spent on compiling was for machine code of
single rules, which nobody ran.

A pipeline of Numba's as its guide to customising the compiler has it, with another last pass. Where that pass is not as it was in the
versions known, rules are compiled as usual.
"""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def without_machine_code() -> Any:
    """Numba's compiler for functions that other compiled functions call, and nobody else."""
    from numba.core import compiler, typed_passes
    from numba.core.compiler_machinery import register_pass

    usual: Any = getattr(typed_passes, "NativeLowering", object)
    if not (hasattr(usual, "run_pass") and hasattr(compiler.Flags, "no_compile")):
        return compiler.Compiler

    @register_pass(mutates_CFG=True, analysis_only=False)
    class Lowering(usual):  # type: ignore[misc]
        _name = "lowering_without_machine_code"

        def run_pass(self, state: Any) -> bool:
            state.flags.no_compile = True
            super().run_pass(state)
            nobody = list[int]().index  # what callers know the function by: each is another, and refuses to be called
            state.targetctx.insert_user_function(nobody, state.cr.fndesc, [state.library])
            state["cr"] = state.cr._replace(cfunc=nobody)
            return True

    class TakenIn(compiler.CompilerBase):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            manager = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            manager.passes = [(Lowering if made is usual else made, why) for made, why in manager.passes]
            manager.finalize()
            return [manager]

    return TakenIn

"""Yi, Kaneko. Improving Counterfactual Regret Minimization Agents Training in Card Game Cheat Using Ordered Abstraction. 2021: all
of its results.

`nebel paper cheat` computes the table and the figures anew and shows them beside the published ones. docs/papers/cheat.md says
what was found.
"""

from __future__ import annotations

from nebel.papers.cheat_challenges import challenges
from nebel.papers.cheat_cost import table1, values
from nebel.papers.cheat_curriculum import curriculum, exact
from nebel.papers.cheat_readings import readings
from nebel.papers.cheat_study import Study
from nebel.papers.cheat_wins import arena, fig1, fig2, fig3
from nebel.papers.paper import Paper

PAPER = Paper(
    name="cheat",
    title="Cheat: ordered abstraction, computed again",
    cite=(
        "Cheng Yi, Tomoyuki Kaneko. Improving Counterfactual Regret Minimization Agents Training in Card Game Cheat Using Ordered "
        "Abstraction. 2021."
    ),
    intro=(
        "The table and all figures of the paper beside our own, and what it could not compute: exact exploitability in the full game. "
        "Cheat-n is Mini-Cheat (three ranks, two suits, two cards each) with n health points; Memoryless-3 is the Memoryless agent that "
        "learned in Cheat-3. Exploitability is what a best response that remembers everything wins on average over both seats, +1 a win "
        "and -1 a loss. At full size all agents learn as in the paper, too: one deal an iteration, all iterations weigh the same, and the "
        "first strategy is the carried average."
    ),
    study=Study,
    sections={
        "table1": table1,
        "challenges": challenges,
        "fig1": fig1,
        "fig2": fig2,
        "fig3": fig3,
        "readings": readings,
        "values": values,
        "curriculum": curriculum,
        "exact": exact,
        "arena": arena,
    },
)

"""Mistakes of the caller, said in one line: what was wrong and what would be right."""


class Problem(ValueError):
    """The root of all errors that nebel raises on purpose; the command line prints it and exits with code 2."""


class UnknownGame(Problem):
    """No game of that name, or an option that it does not have."""


class IllegalMove(Problem):
    """A move that is not legal here."""


class BadRules(Problem):
    """A game whose rules contradict themselves."""


class FailedRule(BadRules):
    """A part of a game that raised an error where it was called."""


class TooLarge(Problem):
    """A game that does not fit; the message says what would."""


class BadFile(Problem):
    """A file that is missing, damaged, or made for something else."""


class BadPolicy(BadFile):
    """A policy whose shares are not probabilities of the legal moves, wherever it comes from."""


class BadSetting(Problem):
    """A setting outside its range, or one that does not go with the others."""


class LostWorker(Problem):
    """A process that was to help has ended before its work was done."""


class UnknownInformationState(Problem):
    """A policy was asked about an information state it has no answer for."""

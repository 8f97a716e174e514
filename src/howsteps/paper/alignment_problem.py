"""The alignment problem: sequences of tokens, which of them match, and the objective.

Equation (1) of the paper, and its quadratic form in Appendix B.1 (U, B, Y, C_o):

    minimise  Tr(UᵀBU) = Σ_(n,m) Σ_l c(φ(dⁿ)_l, φ(dᵐ)_l),    B = Y C_o Yᵀ
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from howsteps.errors import HowstepsError

Slots: TypeAlias = tuple[tuple[int, ...], ...]
Token: TypeAlias = Hashable
Match: TypeAlias = ArrayLike | Callable[[Any, Any], bool]

MATCH_COST = -1
MISMATCH_COST = 100


class AlignmentError(HowstepsError, ValueError):
    """The sequences, the match matrix or the slots do not make an alignment problem."""


@dataclass(frozen=True, eq=False)
class AlignmentProblem:
    """N sequences over D relations, to be mapped increasingly onto one template.

    ``tokens`` holds the S relations of all sequences end to end (Y is its indicator matrix);
    ``match`` is D×D. c(d, e) = ``match_cost`` where d and e match, ``mismatch_cost`` elsewhere.
    """

    tokens: NDArray[np.int64]
    lengths: NDArray[np.int64]
    match: NDArray[np.bool_]
    match_cost: int = MATCH_COST
    mismatch_cost: int = MISMATCH_COST

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Sequence n owns the tokens first[n] … first[n + 1] − 1."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)

    @cached_property
    def sequence(self) -> NDArray[np.int64]:
        """The sequence that each token belongs to."""
        return np.repeat(np.arange(len(self.lengths), dtype=np.int64), self.lengths)

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """C_o, the D×D costs."""
        return np.where(self.match, float(self.match_cost), float(self.mismatch_cost))

    @cached_property
    def shared(self) -> NDArray[np.bool_]:
        """Tokens that match a token of another sequence; all others are alone in their slot.

        A relation is shared when it and the relations that it matches occur in two sequences.
        """
        occurs = np.zeros((len(self.match), len(self.lengths)), dtype=np.int64)
        occurs[self.tokens, self.sequence] = 1
        n_partners: Any = csr_array(self.match.astype(np.int64)) @ occurs  # D×N
        shared = (n_partners > 0).sum(axis=1) > 1
        return np.asarray(shared[self.tokens])

    @property
    def conflict_free(self) -> bool:
        """Whether some optimal alignment has only matching tokens in every slot.

        A token with a mismatch among m tokens costs at least
        2·(mismatch_cost + (m − 2)·match_cost); as long as that is not negative, a slot of its own
        is no worse.
        """
        return self.mismatch_cost + (len(self.lengths) - 2) * self.match_cost >= 0

    def objective(self, slots: ArrayLike) -> int:
        """Tr(UᵀBU): the cost of all ordered pairs of tokens that share a slot, i = j included.

        Parameters
        ----------
        slots
            The slot of every token, end to end.
        """
        _, slot = np.unique(np.asarray(slots), return_inverse=True)
        if not len(slot):
            return 0
        shape = (int(slot.max()) + 1, len(self.match))
        counts: Any = csr_array((np.ones(len(slot), dtype=np.int64), (slot, self.tokens)), shape)
        counts.sum_duplicates()
        matching = int((counts @ csr_array(self.match.astype(np.int64))).multiply(counts).sum())
        pairs = int((np.bincount(slot).astype(np.int64) ** 2).sum())
        return self.match_cost * matching + self.mismatch_cost * (pairs - matching)

    def split(self, values: Sequence[int] | NDArray[np.int64]) -> Slots:
        """Split a list with one value per token into one tuple per sequence."""
        flat = [int(value) for value in values]
        return tuple(
            tuple(flat[begin:end])
            for begin, end in zip(self.first[:-1], self.first[1:], strict=True)
        )


def make_problem(
    sequences: Sequence[Sequence[Token]], match: Match | None = None
) -> AlignmentProblem:
    """Check the input and make the problem.

    Parameters
    ----------
    sequences, match
        As for :func:`howsteps.paper.alignment.align`.

    Raises
    ------
    AlignmentError
        ``match`` is not a square symmetric 0/1 matrix with a true diagonal, or a token is not one
        of its rows.
    """
    rows: Sequence[Sequence[Any]] = sequences
    if match is None or callable(match):
        rows, distinct = _numbered(sequences)
        if match is None:
            matrix = np.eye(len(distinct), dtype=bool)
        else:
            matrix = np.array([[bool(match(a, b)) for b in distinct] for a in distinct], dtype=bool)
            matrix = matrix.reshape(len(distinct), len(distinct))
    else:
        matrix = np.asarray(match)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise AlignmentError(f"the match matrix must be square, it has shape {matrix.shape}")
    if matrix.dtype != bool and not np.isin(matrix, (0, 1)).all():
        raise AlignmentError("the match matrix must hold true and false only")
    matrix = matrix.astype(bool)
    if (matrix != matrix.T).any():
        d, e = np.argwhere(matrix != matrix.T)[0]
        raise AlignmentError(f"the match matrix is not symmetric: [{d}, {e}] is not [{e}, {d}]")
    if not matrix.diagonal().all():
        first = int(np.flatnonzero(~matrix.diagonal())[0])
        raise AlignmentError(f"every token must match itself; token {first} does not")
    for n, sequence in enumerate(rows):
        for token in sequence:
            if not isinstance(token, int | np.integer) or not 0 <= token < len(matrix):
                raise AlignmentError(
                    f"sequence {n} holds {token!r}; with a match matrix of this size, tokens are "
                    f"numbers 0 … {len(matrix) - 1}"
                )
    tokens = np.array([token for sequence in rows for token in sequence], dtype=np.int64)
    return AlignmentProblem(tokens, np.array([len(s) for s in rows], dtype=np.int64), matrix)


def _numbered(sequences: Sequence[Sequence[Token]]) -> tuple[list[list[int]], list[Token]]:
    """Tokens as indices in order of first occurrence, and the distinct tokens."""
    if isinstance(sequences, str):
        raise AlignmentError("give a list of sequences, not one string")
    index: dict[Token, int] = {}
    rows = []
    for n, sequence in enumerate(sequences):
        if isinstance(sequence, str):
            raise AlignmentError(f"sequence {n} is a string; give a list of tokens")
        try:
            rows.append([index.setdefault(token, len(index)) for token in sequence])
        except TypeError:
            raise AlignmentError(
                f"sequence {n} is not a list of tokens (strings, numbers, or anything hashable)"
            ) from None
    return rows, list(index)


def shared_problem(problem: AlignmentProblem) -> AlignmentProblem:
    """The problem without tokens that match no other sequence; their cost is constant."""
    tokens = problem.tokens[problem.shared]
    lengths = np.bincount(problem.sequence[problem.shared], minlength=len(problem.lengths))
    used, renamed = np.unique(tokens, return_inverse=True)
    match = np.ascontiguousarray(problem.match[np.ix_(used, used)])
    return AlignmentProblem(renamed.astype(np.int64), lengths[lengths > 0].astype(np.int64), match)


def restore_unshared(problem: AlignmentProblem, placed: NDArray[np.int64]) -> NDArray[np.int64]:
    """The slots of all tokens, given those of the shared ones; without empty slots.

    Every other token gets a slot of its own to the right of its left neighbour.
    """
    keys: list[tuple[int, int]] = []
    shared = problem.shared
    slots = iter(placed.tolist())
    for begin, end in pairwise(problem.first):
        left = -1
        for s in range(begin, end):
            if shared[s]:
                left = next(slots)
            keys.append((left, -1 if shared[s] else s))
    rank = {key: slot for slot, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys], dtype=np.int64)

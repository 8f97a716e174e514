"""WordNet as a compact file in the package, without a download.

:class:`WordNet` looks words up; :func:`match_matrix` computes which relations match.
``docs/research/wordnet.md`` describes what is stored and how it was verified.
"""

from howsteps.wordnet.database import WordNet
from howsteps.wordnet.matching import match_matrix
from howsteps.wordnet.storage import PARTS_OF_SPEECH, PartOfSpeech

__all__ = ["PARTS_OF_SPEECH", "PartOfSpeech", "WordNet", "match_matrix"]

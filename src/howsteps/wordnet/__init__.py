"""WordNet as a compact file in the package: word senses without a download.

:class:`WordNet` looks words up; :func:`match_matrix` says which relations match.
``docs/research/wordnet.md`` says what is stored and how it was checked.
"""

from howsteps.wordnet.database import WordNet
from howsteps.wordnet.matching import match_matrix
from howsteps.wordnet.storage import PARTS_OF_SPEECH, PartOfSpeech

__all__ = ["PARTS_OF_SPEECH", "PartOfSpeech", "WordNet", "match_matrix"]

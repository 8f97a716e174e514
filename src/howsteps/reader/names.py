"""The names that a model gives to steps, beside the words of the narrators.

A name is plain text without addresses. Words that no narrator of the step says are listed; a name
in the words of a single narrator, who may have asked for it, is not used.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from howsteps.captions.cues import printable
from howsteps.narration.wordnet import PartOfSpeech, WordNet
from howsteps.reader.exchange import clean
from howsteps.task import Mention, Relation, Step, Task

MAX_WORDS, MAX_CHARACTERS = 12, 100
_ADDRESS = re.compile(r"\S*(?:://|@|\w\.\w|\\|www\.)\S*")
_MARKUP = re.compile(r"[*_~\[\]()=^$]+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_PARTS: tuple[PartOfSpeech, ...] = ("verb", "noun")
# Never remarked upon.
_FUNCTION_WORDS = frozenset(
    "a an the and or but of to in on at by for from with without into onto over under up down out "
    "off through around about between before after until while as so that this these those it its "
    "them they their your you all both each every any some more most not no if then than back "
    "again together apart away is are be do does let other first next".split()
)


def plain_name(text: str) -> str:
    """A name as plain text of bounded length, without markup and addresses."""
    words = clean(_MARKUP.sub(" ", _ADDRESS.sub(" ", printable(text)))).split()
    return " ".join(words[:MAX_WORDS])[:MAX_CHARACTERS].strip(" .,;:-!")


class SaidWords:
    """The words that the narrators of a task say, and in which videos."""

    def __init__(self, task: Task) -> None:
        self._sentences = {video.id: video.sentences for video in task.videos}
        self._videos: dict[str, set[str]] = defaultdict(set)
        for video in task.videos:
            for sentence in video.sentences:
                for word in _words(sentence.text):
                    self._videos[word].add(video.id)

    def by_nobody(self, name: str, mentions: Iterable[Mention]) -> list[str]:
        """The words of a name that no narrator of the step says, in any form."""
        said = self._of_step(mentions)
        forms = said.union(*map(_lemmas, said))
        return [w for w in _content_words(name) if forms.isdisjoint({w, *_lemmas(w)})]

    def by_one_narrator(self, name: str, mentions: Iterable[Mention]) -> bool:
        """Whether half of the words of a name are those of one video, where it is not the step."""
        words = _content_words(name)
        said = self._of_step(mentions)
        alone = [w for w in words if w not in said and len(self._videos.get(w, ())) == 1]
        return bool(alone) and 2 * len(alone) >= len(words)

    def _of_step(self, mentions: Iterable[Mention]) -> set[str]:
        words: set[str] = set()
        for mention in mentions:
            words.update(_words(mention.phrase))
            sentences = self._sentences.get(mention.video, ())
            if mention.sentence < len(sentences):
                words.update(_words(sentences[mention.sentence].text))
        return words


def named_by_label(step: Step) -> Step:
    """The step with the relation first in most words of its label, the usual one of these."""
    words = _forms(step.label)
    counts = Counter(mention.relation for mention in step.mentions)

    def fit(relation: Relation) -> tuple[int, bool, int, Relation]:
        return len({*relation} & words), relation.noun in words, counts[relation], relation

    return step.named_after(max(counts, key=fit)) if counts else step


def words_of_step(step: Step) -> set[str]:
    """The verbs and nouns of the mentions of a step, and the words of its label."""
    mentioned = {word for m in step.mentions for word in (m.verb, m.noun)}
    return (mentioned | _forms(step.label)) - {""}


def _forms(label: str) -> set[str]:
    """The words of a label and their lemmas."""
    return {form for word in _words(label) for form in (word, *_lemmas(word))}


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _content_words(text: str) -> list[str]:
    return [w for w in _words(text) if w not in _FUNCTION_WORDS and not w.isdigit()]


def _lemmas(word: str) -> set[str]:
    return {lemma for part in _PARTS for lemma in WordNet.load().lemmas(word, part)}

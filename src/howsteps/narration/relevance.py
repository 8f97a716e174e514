"""Which videos are of this job? What they say against the job's name and against the others.

A search for one job finds others. Three signs tell them, each of which can be said in a sentence:

* the narrator hardly says a word of the job's name that the others do say ("microwave"), and the
  title does not have it;
* the title goes on to another thing ("caramel apple *cheesecake*"), of which the narrator speaks;
* what is done has next to nothing in common with the other videos.

A title that names the job is strong evidence for it. Where many videos miss the same word they are
another way of doing the job, or another job with a name of its own: that is said too.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, log1p

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from howsteps.narration.job_words import JobWords, job_words, stem, stems, words
from howsteps.task import Task, Video

# Times in a thousand words that a word must be said by most for its absence to tell anything.
_TELLING = 3.5
# Videos that must have a word in their titles before their rate is the one to compare with.
_NAMED = 5
_MAJORITY = 0.6
# Share of the usual rate below which a word is hardly said; a title counts as much as this share.
_HARDLY, _TITLE = 0.25, 0.6
# Similarity to the others, as a share of the usual one: so little is another job, so much is not.
_ALIEN, _ALIEN_NAMED, _ALIKE, _ALIKE_UNTITLED = 0.4, 0.15, 0.75, 0.6
# A share of the videos, and a number, that make a way of their own.
_WAY, _FEWEST = 0.2, 5
_SHORT = 60  # words; in fewer a rate means little
# A rate at which a narrator speaks of another thing.
_SPOKEN_OF = 3.0
_NO_THINGS = frozenset("bites ideas kids part pops slices sticks tips treats video wedges".split())
# A head that many titles go on from is a material: "stainless steel *appliances*".
_MATERIAL = 0.2


@dataclass(frozen=True, slots=True)
class Way:
    """Videos that do something else, or do it another way: how many, and what tells them."""

    videos: tuple[str, ...]
    missing: str
    instead: str

    def sentence(self, total: int) -> str:
        """The way in words."""
        said = f"; they say '{self.instead}'" if self.instead else ""
        return (
            f"{len(self.videos)} of {total} videos hardly say '{self.missing}'{said}: "
            "another way, or another job"
        )


@dataclass(frozen=True, slots=True)
class Relevance:
    """The videos that are of another job, each with the reason; and the ways among them."""

    aside: dict[str, str]
    ways: tuple[Way, ...] = ()


def relevance(task: Task) -> Relevance:
    """Find the videos of a heard task that are of another job.

    Needs the task's name, and titles, sentences and mentions of its videos. Fewer than five videos
    say too little about one another: then all stay.
    """
    videos = [video for video in task.videos if video.mentions]
    if len(videos) < _NAMED:
        return Relevance({})
    said = _Said.of(job_words(task.name), videos)
    alike = similarity(videos, said.evidence.min(axis=1) >= 0.5)
    missing: dict[str, list[int]] = {}
    for place in range(len(videos)):
        if (word := said.missing(place)) is not None:
            missing.setdefault(word, []).append(place)
    aside: dict[str, str] = {}
    ways = []
    for word, places in missing.items():
        many = said.titled and len(places) >= max(_FEWEST, _WAY * len(videos))
        if many:
            own = tuple(videos[place].id for place in places)
            ways.append(Way(own, said.spelt(word), _instead(videos, set(own))))
        # A few who are like the others have another word for it: a stove is a cooktop. But eggs
        # that neither the title nor the narrator calls scrambled are others.
        sure = many or (said.titled and word in said.job.rest)
        kept_at = _ALIKE if said.titled else _ALIKE_UNTITLED
        for place in places:
            if sure or alike[place] < kept_at:
                aside[videos[place].id] = f"hardly says '{said.spelt(word)}', unlike the others"
    for place, video in enumerate(videos):
        if video.id in aside:
            continue
        alien = _ALIEN if said.titled and not said.is_named(place) else _ALIEN_NAMED
        if (other := said.other_thing(place)) is not None:
            aside[video.id] = f"its title names another thing: '{other}'"
        elif alike[place] < alien:
            aside[video.id] = "has next to nothing in common with the others"
    return Relevance(aside, tuple(ways))


def names_the_job(task: Task) -> bool:
    """Whether narrators speak of what the task is called by: "videos" names no job.

    True where too few narrators speak to tell.
    """
    told = [video for video in task.videos if video.sentences]
    job = job_words(task.name)
    if len(told) < _NAMED:
        return True
    own = {*job.core, *job.rest}
    speaking = [
        any(stem(word) in own for sentence in video.sentences for word in words(sentence.text))
        for video in told
    ]
    return bool(own) and 2 * sum(speaking) > len(told)


@dataclass(frozen=True, slots=True)
class _Said:
    """How much every video speaks of the job's words."""

    job: JobWords
    telling: tuple[str, ...]
    evidence: NDArray[np.float64]  # videos × telling words, 0 to 1
    titles: tuple[tuple[str, ...], ...]
    afters: tuple[str | None, ...]  # the word right after the job's thing in every title
    rates: tuple[Counter[str], ...]
    spellings: Counter[str]
    titled: bool
    material: bool  # the job's thing is what others are made of

    @classmethod
    def of(cls, job: JobWords, videos: Sequence[Video]) -> "_Said":
        """Count the words of titles and narrations."""
        titles = tuple(tuple(stems(video.title)) for video in videos)
        rates, spellings = [], Counter[str]()
        for video in videos:
            counts = Counter(word for sentence in video.sentences for word in words(sentence.text))
            total = max(counts.total(), _SHORT)
            spellings.update(counts)
            own: Counter[str] = Counter()
            for word, count in counts.items():
                own[stem(word)] += count
            rates.append(Counter({word: 1000 * count / total for word, count in own.items()}))
        core = [w for w in job.core if _usual(w, titles, rates) >= _TELLING]
        evidence = [_evidence(word, titles, rates) for word in core]
        # What only says which one counts where most of those who do the job say it.
        doing = np.min(evidence, axis=0) >= 0.5 if evidence else np.ones(len(videos), dtype=bool)
        for word in job.rest:
            spoken = np.array([r[word] >= 1 for r in rates])
            common = doing.sum() >= _NAMED and spoken[doing].mean() >= _MAJORITY
            if common and _usual(word, titles, rates) >= _TELLING:
                core.append(word)
                evidence.append(_evidence(word, titles, rates))
        table = np.stack(evidence, axis=1) if evidence else np.ones((len(videos), 1))
        titled = sum(map(bool, titles)) > len(titles) / 2
        afters = tuple(_after(video.title, job) for video in videos)
        material = sum(after is not None for after in afters) > _MATERIAL * len(afters)
        return cls(
            job, tuple(core), table, titles, afters, tuple(rates), spellings, titled, material
        )

    def missing(self, place: int) -> str | None:
        """The telling word that a video hardly says, or nothing."""
        if not self.telling:
            return None
        least = int(self.evidence[place].argmin())
        return self.telling[least] if self.evidence[place, least] < _HARDLY else None

    def is_named(self, place: int) -> bool:
        """Whether the title names the job."""
        return bool(self.telling) and set(self.telling) <= set(self.titles[place])

    def other_thing(self, place: int) -> str | None:
        """The thing that a title names right after the job's, where the narrator speaks of it."""
        after = self.afters[place]
        if self.material or after is None or self.rates[place][stem(after)] < _SPOKEN_OF:
            return None
        if sum(stem(after) in title for title in self.titles) > max(2, len(self.titles) // 20):
            return None
        return f"{self.spelt(self.job.head)} {after}"

    def spelt(self, word: str) -> str:
        """A stem as narrators usually say it."""
        forms = {said: n for said, n in self.spellings.items() if stem(said) == word}
        return max(forms, key=lambda said: (forms[said], said)) if forms else word


def _after(title: str, job: JobWords) -> str | None:
    """The word that makes another thing of the job's: "caramel apple *cheesecake*"."""
    for first, second in pairwise(re.findall(r"[a-z]+|[^a-z\s]", title.lower())):
        if stem(first) == job.head and second.isalpha():
            own = {*job.core, *job.rest, *map(stem, _NO_THINGS)}
            return second if stems(second) and stem(second) not in own else None
    return None


def _usual(word: str, titles: Sequence[Sequence[str]], rates: Sequence[Counter[str]]) -> float:
    """How often a word is said by those whose titles have it, or by all."""
    named = [r[word] for title, r in zip(titles, rates, strict=True) if word in title]
    return float(np.median(named if len(named) >= _NAMED else [r[word] for r in rates]))


def _evidence(
    word: str, titles: Sequence[Sequence[str]], rates: Sequence[Counter[str]]
) -> NDArray[np.float64]:
    usual = _usual(word, titles, rates)
    return np.array(
        [
            max(min(1.0, r[word] / usual), _TITLE * (word in title))
            for title, r in zip(titles, rates, strict=True)
        ]
    )


def similarity(videos: Sequence[Video], core: NDArray[np.bool_]) -> NDArray[np.float64]:
    """How like the others each video is: 1 is usual for videos of the ``core``.

    The mean cosine of its acts (verbs, nouns, pairs; rare ones weigh more) with those of the core.
    """
    if core.sum() < _NAMED:
        core = np.ones(len(videos), dtype=bool)
    acts = [_terms(video) for video in videos]
    shared = Counter(term for own in acts for term in own)
    column = {term: n for n, term in enumerate(t for t, count in shared.items() if count > 1)}
    if not column:
        return np.ones(len(videos))
    rows, columns, values = [], [], []
    for row, own in enumerate(acts):
        for term, said in own.items():
            if term in column:
                rows.append(row)
                columns.append(column[term])
                values.append(log1p(said) * log(1 + len(videos) / shared[term]))
    table = csr_array((values, (rows, columns)), shape=(len(videos), len(column)))
    norms = np.sqrt(table.multiply(table).sum(axis=1))
    weight = np.where(core, 1.0, 0.1)
    shares = weight / np.maximum(norms, 1e-9)
    # The others of a video are all but itself, whose cosine with itself is 1.
    mean = (table @ (shares @ table)) / np.maximum(norms, 1e-9) - weight * (norms > 0)
    mean = mean / np.maximum(weight.sum() - weight, 1e-9)
    usual = float(np.median(mean[core]))
    found: NDArray[np.float64] = mean / usual if usual > 0 else np.ones(len(videos))
    return found


def _terms(video: Video) -> dict[str, float]:
    found: defaultdict[str, float] = defaultdict(float)
    for mention in video.mentions:
        if mention.negated:
            continue
        weight = 0.3 + mention.work  # talk tells a job too, but less
        found[f"{mention.verb} {mention.particle}"] += weight
        if mention.noun:
            found[mention.noun] += weight
            found[f"{mention.verb} {mention.particle} {mention.noun}"] += weight
        for noun in (*(place.noun for place in mention.places), *mention.tools):
            found[noun] += weight / 2
    return found


def _instead(videos: Sequence[Video], others: set[str]) -> str:
    """The noun that tells some videos from the rest: said by most of them, and by few others."""
    inside, outside = Counter[str](), Counter[str]()
    for video in videos:
        nouns = {m.noun for m in video.mentions} | {
            p.noun for m in video.mentions for p in m.places
        }
        (inside if video.id in others else outside).update(nouns - {""})
    many, rest = len(others), max(len(videos) - len(others), 1)
    gain = {noun: n / many - outside[noun] / rest for noun, n in inside.items()}
    best = max(gain, key=lambda noun: (gain[noun], noun), default="")
    return best if best and gain[best] >= 0.3 else ""

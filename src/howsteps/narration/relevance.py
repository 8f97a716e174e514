"""Find the videos of a task that show another job, by the words of the job's name.

In "how to make scrambled eggs in a microwave" every video should say *eggs* and *microwave*;
*scrambled* is a qualifier; "make" is a light verb and carries no information.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from howsteps.task import Task, Video

_OPENINGS = (("how", "to"), ("how", "do", "you"), ("how", "i"), ("the", "best", "way", "to"))
_LIGHT_VERBS = frozenset(
    "best do get getting give go have keep make making rid use using way".split()
)
_STOP_WORDS = frozenset(
    """a an and at best by diy do easy for from guide how i in is it make making my of on our
    perfect quick recipe recipes simple that the this to tutorial video videos way ways we
    what when with without you your before after so like""".split()
)
_PREPOSITIONS = frozenset("at by from in into of on onto over using with".split())
# Narrators may not mention what follows these.
_OPTIONAL_PREPOSITIONS = frozenset("as for like to".split())
_EXCLUDING = frozenset({"without"})
_SUFFIXES = ("ing", "ed", "es", "s", "e")
_MIN_STEM = 3  # letters


@dataclass(frozen=True, slots=True)
class JobWords:
    """The words of a job's name, as stems.

    ``core`` are its verb and the heads of its noun phrases, ``qualifiers`` the other words of its
    noun phrases, ``head`` is the noun that the job is done to.
    """

    core: tuple[str, ...]
    qualifiers: tuple[str, ...]
    head: str = ""


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return re.findall(r"[a-z]+", text.lower().replace("_", " "))


def stem(word: str) -> str:
    """Strip the suffix of a word, so that "grilling", "grilled" and "grill" have the same stem."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM:
            word = word[: -len(suffix)]
            break
    return word[:-1] if len(word) > _MIN_STEM and word[-1] == word[-2] else word


def stems(text: str) -> list[str]:
    """Return the stems of a text's words in order, without stop words."""
    return [stem(word) for word in words(text) if word not in _STOP_WORDS and len(word) > 1]


def job_words(name: str) -> JobWords:
    """Split a job's name into core words and qualifiers."""
    remaining = words(name)
    for opening in _OPENINGS:
        if tuple(remaining[: len(opening)]) == opening:
            remaining = remaining[len(opening) :]
    # The words of each phrase, and whether narrators may leave it out.
    phrases: list[tuple[list[str], bool]] = [([], False)]
    for word in remaining:
        if word in _EXCLUDING:
            break
        if word in _PREPOSITIONS | _OPTIONAL_PREPOSITIONS | {"and"}:
            phrases.append(([], word in _OPTIONAL_PREPOSITIONS))
        elif word in _LIGHT_VERBS or word not in _STOP_WORDS:
            phrases[-1][0].append(word)
    core: list[str] = []
    qualifiers: list[str] = []
    head = ""
    verb, *others = phrases[0][0] or [""]
    if others:  # the name begins with the job's verb
        core += [verb] if verb not in _LIGHT_VERBS else []
        phrases[0] = (others, False)
    for phrase, is_optional in phrases:
        nouns = [word for word in phrase if word not in _LIGHT_VERBS]
        if nouns:
            (qualifiers if is_optional else core).append(nouns[-1])
            qualifiers += nouns[:-1]
            head = head or nouns[-1]
    return JobWords(tuple(map(stem, core)), tuple(map(stem, qualifiers)), stem(head))


# Rates are occurrences per thousand words.
_MIN_RATE = 3.5  # median rate of a keyword among those who say it, to be one
_TOPIC_RATE = 3.0  # rate at which a narrator talks about another thing
_MIN_WORDS = 60  # rates of shorter narrations are computed as if they had this many words
_MIN_COMPOUND = 4  # letters of a word that is found in longer ones
_MIN_VIDEOS = 5  # fewer videos are no reference for a rate or a similarity
# Share of videos that say a word of the job's name, to be a keyword: for the verb and the nouns;
# for a qualifier, of the videos that say those.
_CORE_SHARE, _QUALIFIER_SHARE = 0.3, 0.9
# Evidence is the rate as a share of the usual one; a title counts as much as _TITLE.
_MISSING, _TITLE = 0.3, 0.6
_ALIKE = 0.8  # similarity as a share of the usual one, from which a video is like the others
# Log-odds of another job: a video that is like the others; added for a keyword that is missing,
# for no similarity, and for a title that names another thing. Fitted on five jobs in which videos
# were marked (``docs/research/measurements.md``).
_OFFSET, _PER_MISSING, _PER_UNLIKE, _PER_PRODUCT = -0.94, 4.05, 1.76, 2.65
# Share and number of videos without the same keyword that make them a group.
_GROUP_SHARE, _GROUP_MIN = 0.2, 5
_OTHER_WEIGHT = 0.1  # of videos outside the reference set in the mean similarity
_NOT_PRODUCTS = frozenset(
    "bites ideas kids part pops slices sticks tips treats video wedges".split()
)
# Share of titles that continue the job's noun, above which it is a material: "stainless steel
# *appliances*".
_MATERIAL = 0.2
_DISTINCTIVE = 0.3  # difference in document frequency of a noun that describes a group


@dataclass(frozen=True, slots=True)
class Way:
    """A group of videos that miss the same keyword: another way of doing the job, or another job.

    ``instead`` is the noun that distinguishes them from the other videos, or empty.
    """

    videos: tuple[str, ...]
    missing: str
    instead: str

    def sentence(self, total: int) -> str:
        """Describe the group, out of ``total`` videos."""
        instead = f"; they say '{self.instead}'" if self.instead else ""
        return (
            f"{len(self.videos)} of {total} videos hardly say '{self.missing}'{instead}: "
            "another way, or another job"
        )


class OtherJob(NamedTuple):
    """Why a video is set aside, and the probability that it shows another job."""

    reason: str
    probability: float


@dataclass(frozen=True, slots=True)
class Relevance:
    """The videos to set aside, by id, and the groups among them."""

    aside: dict[str, OtherJob]
    ways: tuple[Way, ...] = ()


def relevance(task: Task) -> Relevance:
    """Find the videos of a task that probably show another job.

    The probability is logistic in what a video is about: whether its title, its chapters or its
    narrator name the job, whether its title names another thing, and how much its acts are like
    those of the others.

    Parameters
    ----------
    task
        Its name, and titles, chapters, sentences and mentions of its videos are used. With fewer
        than five narrated videos all are kept.
    """
    videos = [video for video in task.videos if video.mentions]
    if len(videos) < _MIN_VIDEOS:
        return Relevance({})
    usage = _KeywordUsage.of(job_words(task.name), videos)
    least = usage.evidence.min(axis=1)
    missing = np.maximum(0.0, 1.0 - least / _MISSING)
    unlike = np.maximum(0.0, _ALIKE - similarity(videos, least >= 0.5))
    products = [usage.other_product(index) for index in range(len(videos))]
    is_other = np.array([product is not None for product in products])
    parts = np.stack([_PER_MISSING * missing, _PER_UNLIKE * unlike, _PER_PRODUCT * is_other])
    probability = expit(_OFFSET + parts.sum(axis=0))
    aside: dict[str, OtherJob] = {}
    missed: dict[str, list[int]] = {}  # the videos that are set aside, by missing keyword
    for index in np.flatnonzero(probability > 0.5).tolist():
        match int(parts[:, index].argmax()):
            case 0:
                keyword = usage.keywords[int(usage.evidence[index].argmin())]
                missed.setdefault(keyword, []).append(index)
                reason = f"hardly says '{usage.surface_form(keyword)}', unlike the others"
            case 1:
                reason = "has little in common with the other videos"
            case _:
                reason = f"its title names another thing: '{products[index]}'"
        aside[videos[index].id] = OtherJob(reason, round(float(probability[index]), 2))
    ways = []
    for keyword, indices in missed.items():
        if len(indices) >= max(_GROUP_MIN, _GROUP_SHARE * len(videos)):
            ids = tuple(videos[index].id for index in indices)
            instead = _distinctive_noun(videos, set(ids))
            ways.append(Way(ids, usage.surface_form(keyword), instead))
    return Relevance(aside, tuple(ways))


def names_the_job(task: Task) -> bool:
    """Whether most narrators use a word of the task's name; they do not if it is just "videos".

    True if there are too few narrations to tell.
    """
    narrated = [video for video in task.videos if video.sentences]
    if len(narrated) < _MIN_VIDEOS:
        return True
    job = job_words(task.name)
    keywords = {*job.core, *job.qualifiers}
    users = sum(
        any(stem(word) in keywords for sentence in video.sentences for word in words(sentence.text))
        for video in narrated
    )
    return bool(keywords) and 2 * users > len(narrated)


@dataclass(frozen=True, slots=True)
class _KeywordUsage:
    """How much every video uses the words of the job's name; all words are stems."""

    job: JobWords
    keywords: tuple[str, ...]
    evidence: NDArray[np.float64]  # videos × keywords, in [0, 1]
    titles: tuple[tuple[str, ...], ...]
    continuations: tuple[str | None, ...]  # the word right after the job's noun in each title
    rates: tuple[Counter[str], ...]
    spellings: Counter[str]
    is_material: bool  # the job's noun is what other things are made of

    @classmethod
    def of(cls, job: JobWords, videos: Sequence[Video]) -> "_KeywordUsage":
        """Count the words of titles and narrations."""
        titles = tuple(
            tuple(stems(" ".join([video.title, *(chapter.title for chapter in video.chapters)])))
            for video in videos
        )
        rates, spellings = [], Counter[str]()
        for video in videos:
            counts = Counter(word for sentence in video.sentences for word in words(sentence.text))
            total = max(counts.total(), _MIN_WORDS)
            spellings.update(counts)
            stem_counts: Counter[str] = Counter()
            for word, count in counts.items():
                stem_counts[stem(word)] += count
            # A stovetop is a stove, and a newspaper is paper.
            for name in {*job.core, *job.qualifiers}:
                if len(name) >= _MIN_COMPOUND:
                    longer = (w for w in counts if name in w and stem(w) != name)
                    stem_counts[name] += sum(counts[word] for word in longer)
            rates.append(Counter({word: 1000 * n / total for word, n in stem_counts.items()}))
        found = [w for w in job.core if _share(w, rates) >= _CORE_SHARE]
        keywords = [word for word in found if _usual_rate(word, rates) >= _MIN_RATE]
        evidence = [_evidence(word, titles, rates) for word in keywords]
        # A qualifier is a keyword if nearly all videos that show the job use it.
        on_topic = np.min(evidence, axis=0) >= _MISSING if evidence else np.ones(len(videos))
        users = [rate for rate, is_user in zip(rates, on_topic, strict=True) if is_user]
        for word in job.qualifiers:
            common = len(users) >= _MIN_VIDEOS and _share(word, users) >= _QUALIFIER_SHARE
            if common and _usual_rate(word, rates) >= _MIN_RATE:
                keywords.append(word)
                evidence.append(_evidence(word, titles, rates))
        continuations = tuple(_continuation(video.title, job) for video in videos)
        return cls(
            job=job,
            keywords=tuple(keywords),
            evidence=np.stack(evidence, axis=1) if evidence else np.ones((len(videos), 1)),
            titles=titles,
            continuations=continuations,
            rates=tuple(rates),
            spellings=spellings,
            is_material=sum(word is not None for word in continuations) > _MATERIAL * len(videos),
        )

    def other_product(self, index: int) -> str | None:
        """What the title continues the job's noun to, if the narrator talks about it."""
        word = self.continuations[index]
        if self.is_material or word is None or self.rates[index][stem(word)] < _TOPIC_RATE:
            return None
        if sum(stem(word) in title for title in self.titles) > max(2, len(self.titles) // 20):
            return None
        return f"{self.surface_form(self.job.head)} {word}"

    def surface_form(self, word: str) -> str:
        """The most frequent form of a stem in the narrations."""
        forms = {form: n for form, n in self.spellings.items() if stem(form) == word}
        return max(forms, key=lambda form: (forms[form], form)) if forms else word


def _continuation(title: str, job: JobWords) -> str | None:
    """The word after the job's noun that makes it another thing: "caramel apple *cheesecake*".

    None if the noun also stands alone: "apple crisp caramel apples".
    """
    ignored = {*job.core, *job.qualifiers, *map(stem, _NOT_PRODUCTS)}
    found = []
    for first, second in pairwise([*re.findall(r"[a-z]+|[^a-z\s]", title.lower()), ""]):
        if stem(first) == job.head:
            is_product = second.isalpha() and stems(second) and stem(second) not in ignored
            found.append(second if is_product else None)
    return found[0] if found and None not in found else None


def _share(word: str, rates: Sequence[Counter[str]]) -> float:
    """The share of videos that say a word."""
    return sum(rate[word] > 0 for rate in rates) / len(rates)


def _usual_rate(word: str, rates: Sequence[Counter[str]]) -> float:
    """The median rate of a word in the videos that say it."""
    return float(np.median([rate[word] for rate in rates if rate[word] > 0] or [0]))


def _evidence(
    word: str, titles: Sequence[Sequence[str]], rates: Sequence[Counter[str]]
) -> NDArray[np.float64]:
    """Evidence in [0, 1] that each video is about a word, from its rate and title."""
    usual = _usual_rate(word, rates)
    return np.array(
        [
            max(min(1.0, rate[word] / usual), _TITLE * (word in title))
            for title, rate in zip(titles, rates, strict=True)
        ]
    )


def similarity(videos: Sequence[Video], reference: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Similarity of each video to the others, as a multiple of the median in ``reference``.

    The mean cosine of the TF-IDF vectors of its acts (verbs, nouns, pairs) with those of the other
    videos. ``reference`` is a mask of the videos that are probably of the job (all, if there are
    too few); the others have a tenth of the weight.
    """
    if reference.sum() < _MIN_VIDEOS:
        reference = np.ones(len(videos), dtype=bool)
    terms_by_video = [_terms(video) for video in videos]
    document_counts = Counter(term for terms in terms_by_video for term in terms)
    shared = [term for term, count in document_counts.items() if count > 1]
    column_of = {term: column for column, term in enumerate(shared)}
    if not column_of:
        return np.ones(len(videos))
    rows, columns, values = [], [], []
    for row, terms in enumerate(terms_by_video):
        for term, frequency in terms.items():
            if term in column_of:
                rows.append(row)
                columns.append(column_of[term])
                values.append(log1p(frequency) * log(1 + len(videos) / document_counts[term]))
    tf_idf = csr_array((values, (rows, columns)), shape=(len(videos), len(column_of)))
    norms = np.sqrt(tf_idf.multiply(tf_idf).sum(axis=1))
    weight = np.where(reference, 1.0, _OTHER_WEIGHT)
    shares = weight / np.maximum(norms, 1e-9)
    # Subtract the cosine of a video with itself, which is 1.
    mean = (tf_idf @ (shares @ tf_idf)) / np.maximum(norms, 1e-9) - weight * (norms > 0)
    mean = mean / np.maximum(weight.sum() - weight, 1e-9)
    usual = float(np.median(mean[reference]))
    relative: NDArray[np.float64] = mean / usual if usual > 0 else np.ones(len(videos))
    return relative


def _terms(video: Video) -> dict[str, float]:
    """Weighted counts of the verbs, nouns and pairs of a video's mentions."""
    counts: defaultdict[str, float] = defaultdict(float)
    for mention in video.mentions:
        if mention.negated:
            continue
        weight = 0.3 + mention.work  # talk is evidence of the job too, but weaker
        counts[f"{mention.verb} {mention.particle}"] += weight
        if mention.noun:
            counts[mention.noun] += weight
            counts[f"{mention.verb} {mention.particle} {mention.noun}"] += weight
        for noun in (*(place.noun for place in mention.places), *mention.tools):
            counts[noun] += weight / 2
    return counts


def _distinctive_noun(videos: Sequence[Video], group: set[str]) -> str:
    """The noun whose share of videos is most above that of the rest, or "" if none stands out."""
    inside, outside = Counter[str](), Counter[str]()
    for video in videos:
        nouns = {m.noun for m in video.mentions} | {
            place.noun for m in video.mentions for place in m.places
        }
        (inside if video.id in group else outside).update(nouns - {""})
    n_inside, n_outside = len(group), max(len(videos) - len(group), 1)
    gain = {noun: n / n_inside - outside[noun] / n_outside for noun, n in inside.items()}
    best = max(gain, key=lambda noun: (gain[noun], noun), default="")
    return best if best and gain[best] >= _DISTINCTIVE else ""

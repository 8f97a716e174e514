"""Find the videos of a task that show another job, by the words of the job's name.

In "how to make scrambled eggs in a microwave" every video should say *eggs* and *microwave*;
*scrambled* is a qualifier; "make" is a light verb and carries no information.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import log, log1p

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

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
_MIN_RATE = 3.5  # median rate of a keyword, below which its absence means nothing
_TOPIC_RATE = 3.0  # rate at which a narrator talks about another thing
_MIN_VIDEOS = 5  # fewer videos are no reference for a rate or a similarity
_MAJORITY = 0.6
# Evidence is the rate as a share of the usual one; a title counts as much as _TITLE.
_MISSING, _ON_TOPIC, _TITLE = 0.25, 0.5, 0.6
# Similarity as a share of the usual one: below, a video shows another job ...
_ALIEN = 0.15
_ALIEN_AMONG_OTHERS = 0.75  # where many other videos show another job: a word separates them
# ... and from here on it is kept although a keyword is missing.
_ALIKE, _ALIKE_NO_TITLES = 0.75, 0.6
# Share and number of videos without the same keyword that make them a group.
_GROUP_SHARE, _GROUP_MIN = 0.2, 5
# A word separates if this share of the videos never say it, and they are less like the others than
# this share of the usual similarity.
_SEPARATE_SHARE, _SEPARATE = 0.25, 0.9
_OTHER_WEIGHT = 0.1  # of videos outside the reference set in the mean similarity
_NOT_PRODUCTS = frozenset(
    "bites ideas kids part pops slices sticks surface tips treats video vs wedges".split()
)
_KIND_COUNT = 4  # how often a narrator without a title names the kind of thing: "boiled eggs"
# Share of titles that continue the job's noun, above which it is a material: "tile *floor*".
_MATERIAL = 0.2
# That a video that is set aside is of another job: if a group or its title says so, and if not.
_OBVIOUS, _DOUBTFUL = 0.9, 0.65


@dataclass(frozen=True, slots=True)
class Way:
    """A group of videos that miss the same keyword: another way to do the job, or another job."""

    videos: tuple[str, ...]
    missing: str

    def sentence(self, total: int) -> str:
        """Describe the group, out of ``total`` videos."""
        return (
            f"{len(self.videos)} of {total} videos hardly say '{self.missing}': "
            "another way, or another job"
        )


@dataclass(frozen=True, slots=True)
class Relevance:
    """The videos to set aside (video id → reason), and the groups among them.

    ``probability`` is that of being of another job, by video id.
    """

    aside: dict[str, str]
    ways: tuple[Way, ...] = ()
    probability: Mapping[str, float] = field(default_factory=dict)


def relevance(task: Task) -> Relevance:
    """Find the videos of a task that show another job.

    Its name, and titles, sentences and mentions of its videos are used. With fewer than five
    narrated videos all are kept.
    """
    videos = [video for video in task.videos if video.mentions]
    if len(videos) < _MIN_VIDEOS:
        return Relevance({})
    usage = _KeywordUsage.of(job_words(task.name), videos)
    alike = similarity(videos, usage.evidence.min(axis=1) >= _ON_TOPIC)
    indices_by_missing: dict[str, list[int]] = {}
    for index in range(len(videos)):
        if (word := usage.missing_keyword(index)) is not None:
            indices_by_missing.setdefault(word, []).append(index)
    aside: dict[str, str] = {}
    ways = []
    for word, indices in indices_by_missing.items():
        is_many = len(indices) >= max(_GROUP_MIN, _GROUP_SHARE * len(videos))
        is_group = is_many and (usage.have_titles or word in usage.separating)
        if is_group:
            ids = tuple(videos[index].id for index in indices)
            ways.append(Way(ids, usage.surface_form(word)))
        # A few videos that are like the others use another word for it: a stove is a cooktop. But
        # eggs that neither the title nor the narrator calls scrambled are another dish.
        certain = is_group or (usage.have_titles and word in usage.job.qualifiers)
        keep_from = _ALIKE if usage.have_titles else _ALIKE_NO_TITLES
        for index in indices:
            if certain or alike[index] < keep_from:
                reason = f"hardly says '{usage.surface_form(word)}', unlike the others"
                aside[videos[index].id] = reason
    alien = _ALIEN_AMONG_OTHERS if usage.separating else _ALIEN
    named = set()  # another thing, in the title
    for index, video in enumerate(videos):
        if video.id in aside:
            continue
        if (product := usage.other_product(index)) is not None:
            aside[video.id] = f"its title names another thing: '{product}'"
            named.add(video.id)
        elif (kind := usage.other_kind(index)) is not None:
            aside[video.id] = f"is about another thing: '{kind}'"
        elif alike[index] < (_ALIEN if usage.title_names_job(index) else alien):
            aside[video.id] = "has little in common with the other videos"
    obvious = {video for way in ways for video in way.videos} | named
    probability = {video: _OBVIOUS if video in obvious else _DOUBTFUL for video in aside}
    return Relevance(aside, tuple(ways), probability)


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
    kinds: tuple[str | None, ...]  # the word right before it, in titles or else in narrations
    rates: tuple[Counter[str], ...]
    spellings: Counter[str]
    have_titles: bool
    separating: set[str]  # words that divide the videos into two kinds
    is_material: bool  # the job's noun is what other things are made of, say the titles

    @classmethod
    def of(cls, job: JobWords, videos: Sequence[Video]) -> "_KeywordUsage":
        """Count the words of titles and narrations."""
        titles = tuple(tuple(stems(video.title)) for video in videos)
        rates, spellings = [], Counter[str]()
        for video in videos:
            counts = Counter(word for sentence in video.sentences for word in words(sentence.text))
            total = max(counts.total(), 1)
            spellings.update(counts)
            stem_counts: Counter[str] = Counter()
            for word, count in counts.items():
                stem_counts[stem(word)] += count
            rates.append(Counter({word: 1000 * n / total for word, n in stem_counts.items()}))
        separating = {w for w in job.core if _separates(w, videos, rates)}
        usual = {
            word: _usual_rate(word, titles, rates, word in separating)
            for word in (*job.core, *job.qualifiers)
        }
        keywords = [word for word in job.core if usual[word] >= _MIN_RATE]
        evidence = [_evidence(word, usual[word], titles, rates) for word in keywords]
        # A qualifier is a keyword if most videos that show the job use it.
        on_topic = np.min([np.ones(len(videos)), *evidence], axis=0) >= _ON_TOPIC
        for word in job.qualifiers:
            used = np.array([rate[word] >= 1 for rate in rates])
            common = on_topic.sum() >= _MIN_VIDEOS and used[on_topic].mean() >= _MAJORITY
            if common and usual[word] >= _MIN_RATE:
                keywords.append(word)
                evidence.append(_evidence(word, usual[word], titles, rates))
        continuations = tuple(_continuation(video.title, job) for video in videos)
        return cls(
            job=job,
            keywords=tuple(keywords),
            evidence=np.stack(evidence, axis=1) if evidence else np.ones((len(videos), 1)),
            titles=titles,
            continuations=continuations,
            kinds=tuple(_kind(video, job) for video in videos),
            rates=tuple(rates),
            spellings=spellings,
            have_titles=sum(map(bool, titles)) > len(titles) / 2,
            separating=separating,
            is_material=sum(word is not None for word in continuations) > _MATERIAL * len(videos),
        )

    def missing_keyword(self, index: int) -> str | None:
        """The keyword that a video uses least, if it hardly uses it."""
        if not self.keywords or self._title_names_the_rest(index):
            return None
        least = int(self.evidence[index].argmin())
        return self.keywords[least] if self.evidence[index, least] < _MISSING else None

    def title_names_job(self, index: int) -> bool:
        """Whether the title contains all keywords."""
        return bool(self.keywords) and set(self.keywords) <= set(self.titles[index])

    def other_product(self, index: int) -> str | None:
        """What the title continues the job's noun to, if the narrator talks about it."""
        word = self.continuations[index]
        if word is None or self.is_material or self.rates[index][stem(word)] < _TOPIC_RATE:
            return None
        if sum(stem(word) in title for title in self.titles) > max(2, len(self.titles) // 20):
            return None
        return f"{self.surface_form(self.job.head)} {word}"

    def other_kind(self, index: int) -> str | None:
        """Another kind of the job's noun that a video is about, "boiled eggs", not "scrambled"."""
        kind = self.kinds[index]
        if kind is None or (self.titles[index] and self.rates[index][stem(kind)] < _TOPIC_RATE):
            return None
        named = [
            {word for word in self.job.qualifiers if rate[word] or word in title}
            for rate, title in zip(self.rates, self.titles, strict=True)
        ]
        usual = Counter(word for found in named for word in found)
        if named[index] or max(usual.values(), default=0) < _MAJORITY * len(named):
            return None
        return f"{kind} {self.surface_form(self.job.head)}"

    def _title_names_the_rest(self, index: int) -> bool:
        """Whether a title has all words but the job's noun: a "glass cooktop" is a stove."""
        others = {*self.job.core, *self.job.qualifiers} - {self.job.head}
        title = " ".join(self.titles[index])
        return len(self.job.qualifiers) > 1 and all(word in title for word in others)

    def surface_form(self, word: str) -> str:
        """The most frequent form of a stem in the narrations."""
        forms = {form: n for form, n in self.spellings.items() if stem(form) == word}
        return max(forms, key=lambda form: (forms[form], form)) if forms else word


def _continuation(title: str, job: JobWords) -> str | None:
    """The word after the job's noun that makes it another thing: "caramel apple *cheesecake*".

    There is none if the title also names the noun alone.
    """
    ignored = {*job.core, *job.qualifiers, *map(stem, _NOT_PRODUCTS)}
    found = re.findall(r"[a-z]+|[^a-z\s]", f"{title.lower()}.")
    after = [second for first, second in pairwise(found) if stem(first) == job.head]
    products = [word for word in after if stems(word) and stem(word) not in ignored]
    return products[0] if products and len(products) == len(after) else None


def _kind(video: Video, job: JobWords) -> str | None:
    """The word before the job's noun in a title; without a title, what its narrator often says."""
    texts = [video.title] if video.title else [sentence.text for sentence in video.sentences]
    ignored = {*job.core, *job.qualifiers}
    found = Counter(
        first
        for text in texts
        for first, second in pairwise(words(text))
        if stem(second) == job.head and stems(first) and stem(first) not in ignored
        if not first.endswith("ing")
    )
    [(kind, count)] = found.most_common(1) or [("", 0)]
    return kind if count >= (1 if video.title else _KIND_COUNT) else None


def _usual_rate(
    word: str, titles: Sequence[Sequence[str]], rates: Sequence[Counter[str]], separates: bool
) -> float:
    """Median rate of a word in the videos with the word in their titles, or in all.

    Of a word that separates, without enough titles, in those that say it.
    """
    titled = [rate[word] for title, rate in zip(titles, rates, strict=True) if word in title]
    others = [rate[word] for rate in rates if rate[word] > 0 or not separates]
    return float(np.median(titled if len(titled) >= _MIN_VIDEOS else others))


def _separates(word: str, videos: Sequence[Video], rates: Sequence[Counter[str]]) -> bool:
    """Whether the videos that never say a word are many, and unlike those that say it.

    Some narrators of a clean collection say *repair* instead of *fix*, but do the same.
    """
    says = np.array([rate[word] > 0 for rate in rates])
    n_others = len(says) - says.sum()
    if says.sum() < _MIN_VIDEOS or n_others < max(_GROUP_MIN, _SEPARATE_SHARE * len(says)):
        return False
    return bool(similarity(videos, says)[~says].mean() < _SEPARATE)


def _evidence(
    word: str, usual: float, titles: Sequence[Sequence[str]], rates: Sequence[Counter[str]]
) -> NDArray[np.float64]:
    """Evidence in [0, 1] that each video is about a word, from its rate and title."""
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

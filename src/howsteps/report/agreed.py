"""What several narrators say alike: how a step is told, what is used, and what to be careful about.

Everything is read from the captions. A statement has the words of every narrator who makes it; one
that fewer than two narrators make is not made.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

from howsteps.narration.relevance import job_words, stem, words
from howsteps.narration.wordnet import WordNet
from howsteps.script.names import NEED_A_PLACE, PRODUCTS
from howsteps.task import Localisation, Mention, Result, Sentence, Step

_MIN_VIDEOS = 2
_MIN_SHARE = 0.1  # of the videos, for a thing
_MAX_THINGS, _MAX_WARNINGS = 15, 6
_FEW_WORDS, _QUOTE_WORDS = 4, 14  # of a longer sentence, only the part about the act is quoted
_WORDS_BEFORE = 3
_NEAR_BEFORE, _NEAR_AFTER = 6, 8  # words; "here in this pan you're going to cook"
_NEAR = 10.0  # seconds between a mention and a place of the same moment

# "You need a jack", "grab a towel", "add some milk": verbs whose object is a tool or a material.
_USING = frozenset(
    "add beat crack dip gather grab insert melt need require sprinkle use whisk".split()
)
_DENYING = frozenset("not don't never if without skip skipping avoid avoiding instead".split())
_DETERMINERS = frozenset("a an the your my our some this that it them".split())
_PREPOSITIONS = frozenset(
    """against around at below between by from in inside into of on onto over through to under
    underneath with""".split()
)
# Prepositions of a place, by what they mean.
_OF_PLACE = _PREPOSITIONS - frozenset("by of to with".split())
_WHERE = {word: word for word in (*_OF_PLACE, "out")}
_WHERE |= dict.fromkeys(("into", "inside", "to"), "in") | dict.fromkeys(("onto", "over"), "on")
_WHERE |= {"from": "out", "underneath": "under"}
_OPPOSITES = ("left right", "over under", "up down", "top bottom", "front back", "inside outside")
# WordNet hypernyms of tools, materials and ingredients; hypernyms of other things; and
# nouns that are too vague to be listed.
_USED = (
    *("instrumentality", "fabric", "commodity", "covering", "decoration", "ware"),
    *("food", "foodstuff", "substance", "material", "liquid", "fuel", "plant part", "plant"),
)
# These are used whatever is done with them.
_TOOLS = ("implement", "container", "measuring instrument", "food", "foodstuff")
_NOT_USED = (
    *("gas", "body part", "body substance", "person", "vehicle", "meal", "clothing", "footwear"),
    "waste",
)
_VAGUE = "artifact instrumentality commodity covering substance food plant device".split()
_VAGUE += "tool implement product ingredient equipment supply mixture batter video link".split()
_MIN_SENSE_SHARE = 0.25  # of the occurrences of a noun, by the frequencies of its senses

# "Before you cut the steak", "after letting it rest": no good example of a step.
_AROUND = frozenset("after before how if once until when while".split())
_SUBJECTS = frozenset("and i i'll i'm let let's now then we we'll we're you you'll you're".split())
_JOINING = _AROUND | frozenset("and as because but i i'm is so then we which you you're".split())
_DANGLING = _JOINING | frozenset("a in of on or that the to what with".split())

_FORBIDDING = re.compile(
    r"(?:^|(?<!\S)(?:so|and|but|then|now|please|okay|guys|also|remember|sure (?:you|we)) )"
    r"(?:don't|do not|never)(?: ever| just)? $"
    r"|(?<!if )(?:you|we) (?:don't|do not|never)(?: ever| really)? want to $"
    r"|you should(?:n't| not| never) $|(?:careful|sure|try|important) not to $"
)
# Verbs that forbid nothing: "don't forget to subscribe", "don't worry".
_LIGHT = frozenset("do get let make over put take use".split())  # without an object
_NO_WARNING = frozenset(
    """be believe care feel forget go have hesitate judge know like mind miss need see subscribe
    think try want wonder worry""".split()
)


@dataclass(frozen=True, slots=True)
class Quote:
    """What a narrator says, word for word, and when (in seconds)."""

    video: str
    time: float
    text: str


@dataclass(frozen=True, slots=True)
class Agreed:
    """A statement, and the words of each narrator who makes it, the clearest first."""

    text: str
    quotes: tuple[Quote, ...]

    @classmethod
    def by_rank(cls, text: str, ranked: Iterable[tuple[Any, Quote]]) -> "Agreed":
        """A statement with one quote a narrator, of the lowest rank."""
        quotes: dict[str, Quote] = {}
        for _, quote in sorted(ranked, key=itemgetter(0)):
            quotes.setdefault(quote.video, quote)
        return cls(text, tuple(quotes.values()))

    def examples(self, count: int) -> list[Quote]:
        """Some quotes that differ: copies of one video say the same."""
        different = {quote.text: quote for quote in reversed(self.quotes)}
        return [*reversed(different.values())][:count]

    @property
    def videos(self) -> int:
        """The number of narrators."""
        return len(self.quotes)


@dataclass(frozen=True, slots=True)
class Told(Agreed):
    """How a step is told.

    ``narrators`` say its verb and its object; the quotes are those of them that say no other place
    or side. ``unsaid`` are the words of the label that no two narrators say with it. ``place`` is
    where the first quote is, or None if that is a guess.
    """

    narrators: int
    unsaid: tuple[str, ...]
    place: Localisation | None


class _Said:
    """A mention in its sentence: the words in lower case, and the indices that it spans."""

    def __init__(self, mention: Mention, sentence: Sentence) -> None:
        self.mention = mention
        self.sentence = sentence
        self.words = [word.text.lower().strip('.,;:!?"') for word in sentence.words]
        inside = [
            n
            for n, word in enumerate(sentence.words)
            if mention.start <= word.start + 0.01 and word.end <= mention.end + 0.01
        ]
        self.begin, self.end = (inside[0], inside[-1] + 1) if inside else (0, 0)
        verb = stem(mention.verb)
        # "the grill is preheated", "we're gonna cook": the verb need not come first.
        self.verb = next((n for n in inside if stem(self.words[n]) == verb), self.begin)

    def where(self, wanted: Collection[str]) -> dict[str, int]:
        """Where words with these stems are said, near the act."""
        first, last = max(0, self.begin - _NEAR_BEFORE), self.end + _NEAR_AFTER
        found = {stem(self.words[n]): n for n in range(first, min(last, len(self.words)))}
        return {word: found[word] for word in wanted if word in found}

    @property
    def named(self) -> set[str]:
        """The stems of its objects and tools, without what a pronoun stands for."""
        own = self.mention
        nouns = (*own.tools, *((own.relation.noun,) if not own.resolved else ()))
        # Plurals have other stems: "remove the leaves".
        return {*map(stem, (*nouns, *self.words[self.begin : self.end]))} - {stem(own.verb)}

    @property
    def is_told(self) -> bool:
        """Whether the act is told to be done: "you take", not "I took" or "after taking"."""
        before = self.words[max(0, self.verb - _WORDS_BEFORE) : self.verb]
        is_form = self.words[self.verb : self.verb + 1] == [self.mention.verb]
        return is_form and _AROUND.isdisjoint(before)

    def quote(self, *within: int, before: int = _WORDS_BEFORE) -> Quote:
        """The sentence; of a long one, the part about the act, with the words ``within``."""
        words = [word.text for word in self.sentence.words]
        first, stop = 0, len(words)
        if stop > _QUOTE_WORDS:
            begin = min(self.begin, self.verb, *within)
            end = max([self.end, *(n + 1 for n in within)])
            first = max(0, begin - before)
            first = next((n for n in range(first, begin) if self.words[n] in _SUBJECTS), first)
            stop = min(stop, max(first + _QUOTE_WORDS, end))
            # Where another clause begins, not in the middle of it.
            if stop < len(words):
                stop = next((n for n in range(stop, end, -1) if self.words[n] in _JOINING), stop)
                while stop > end and self.words[stop - 1] in _DANGLING:
                    stop -= 1
        text = " ".join(words[first:stop])
        text = f"{'… ' if first else ''}{text}{' …' if stop < len(words) else ''}"
        return Quote(self.mention.video, self.mention.start, text)


class _Label(NamedTuple):
    """The stems of the name of a step: its verbs, particles, objects, and the place they go to."""

    verbs: set[str]
    particles: set[str]
    objects: set[str]
    where: set[str]
    places: set[str]

    @classmethod
    def of(cls, step: Step) -> "_Label":
        """The parts of a name; the objects of "come up over the wrist" are its places."""
        words = [stem(word) for word in step.label.lower().replace(",", " ").split()]
        verbs = {stem(mention.verb) for mention in step.mentions}
        verb = next((word for word in words if word in verbs), words[0] if words else "")
        acts = [mention for mention in step.mentions if stem(mention.verb) == verb]
        particles = {stem(word) for act in acts for word in act.particle.split()} & {*words}
        at = [n for n, word in enumerate(words) if word in _WHERE.keys() - particles]
        end = at[-1] if at else len(words)
        # What is put somewhere is added, if narrators do not agree where.
        verbs = {verb, *(map(stem, (*NEED_A_PLACE, "add")) if "add" in words else ())}
        places = {*words[end:]} - _DETERMINERS - _PREPOSITIONS - {"out"}
        objects = {*words[:end]} - {verb} - particles - _DETERMINERS - _PREPOSITIONS
        return cls(verbs, particles, objects or places, {_WHERE[words[n]] for n in at}, places)

    def fits(self, said: _Said) -> bool:
        """Whether a mention says nothing else: its particles, its object, and no other place."""
        mention = said.mention
        is_there = not (mention.places and self.places) or any(
            stem(place.noun) in self.places
            and any(_WHERE.get(word) in self.where for word in place.preposition.split())
            for place in mention.places
        )
        is_it = not self.objects.isdisjoint(said.named | {stem(mention.relation.noun)})
        return is_there and is_it and len(said.where(self.particles)) == len(self.particles)


def _contradicts(text: str, label: Set[str]) -> bool:
    """Whether a quote says "left" and not "right" where a label says "right"."""
    said = {*re.findall("[a-z]+", text.lower())}
    return any(
        len(pair & said) == len(pair & label) == 1 and pair & said != pair & label
        for pair in ({*words.split()} for words in _OPPOSITES)
    )


def verbatim(mention: Mention, sentences: Sequence[Sentence]) -> str:
    """What is said at a mention, word for word; empty if its sentence is not known.

    It goes on to the end of the phrase: "push the tire back *on the rim*".
    """
    if mention.sentence >= len(sentences):
        return ""
    said = _Said(mention, sentences[mention.sentence])
    own = said.words[said.begin : said.end]
    rest = {*mention.phrase.lower().split()} - _DETERMINERS - {*own} if own else {}
    after = said.words[said.end : said.end + _NEAR_AFTER]
    end = said.end + max((n for n, word in enumerate(after, 1) if word in rest), default=0)
    return " ".join(word.text for word in said.sentence.words[said.begin : end]).rstrip(".,;:!?")


class Narrations:
    """What the narrators of a result say, by mention."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self._sentences = {video.id: video.sentences for video in result.task.videos}

    def _said(self, mentions: Iterable[Mention]) -> Iterator[_Said]:
        for mention in mentions:
            sentences = self._sentences.get(mention.video, ())
            if mention.sentence < len(sentences):
                yield _Said(mention, sentences[mention.sentence])

    def _all(self) -> Iterator[_Said]:
        return self._said(m for video in self.result.task.videos for m in video.mentions)

    def told(self, number: int) -> Told:
        """Who tells to do a step as its label does, and how.

        A step that nobody tells has the place with the highest confidence.
        """
        step = self.result.steps[number]
        places = {
            place.video: place
            for place in self.result.places
            if place.step == number and place.level != "guess"
        }
        words = {stem(w): w for w in step.label.lower().replace(",", " ").split()}
        label = words.keys() - _DETERMINERS
        named = _Label.of(step)
        everybody = (m for video in self.result.task.videos for m in video.mentions)
        said = self._saying(step.mentions, named) or self._saying(everybody, named)
        objects = {stem(each.mention.relation.noun) for each in said if not each.mention.resolved}
        details = [w for w in words if w in label - objects - named.verbs - _PREPOSITIONS]
        enough = min(_MIN_VIDEOS, _narrators(said))
        unsaid = (
            words[word]
            for word in details
            if _narrators(each for each in said if each.where([word])) < enough
        )

        def rank(each: _Said) -> tuple[bool, bool, int, bool, bool, float]:
            mention, place = each.mention, _near(each.mention, places)
            is_clear = mention.is_work and each.is_told
            # The spare tire is removed, too, "from under the vehicle".
            others = {stem(place.noun) for place in mention.places} - label
            different = len(label) - len(each.where(label)) + len(others)
            is_whole = len(each.words) <= _QUOTE_WORDS
            confidence = place.confidence if place else -1.0
            return (
                not is_clear,
                mention.resolved,
                different,
                place is None,
                not is_whole,
                -confidence,
            )

        shown = {
            each: quote
            for each in sorted(said, key=rank)
            for quote in [each.quote(*each.where(details[-1:]).values())]
            if named.fits(each) and not _contradicts(quote.text, label)
        }
        quotes = Agreed.by_rank(step.label, enumerate(shown.values())).quotes
        if shown:
            place = _near(next(iter(shown)).mention, places)
        else:
            place = max(places.values(), key=lambda place: place.confidence, default=None)
        return Told(step.label, quotes, _narrators(said), tuple(unsaid), place)

    def _saying(self, mentions: Iterable[Mention], label: "_Label") -> list[_Said]:
        """The mentions that say the verb and the object of a label, or a pronoun for the object.

        The object is then named in the same sentence, or in the one before.
        """
        found = []
        acts = (m for m in mentions if stem(m.verb) in label.verbs and not m.negated)
        for said in self._said(acts):
            mention, named = said.mention, said.named
            if mention.resolved:
                first = max(0, mention.sentence - 1)
                before = self._sentences[mention.video][first : mention.sentence]
                named |= {stem(word) for each in before for word in each.text.lower().split()}
                named.update(map(stem, said.words[: said.end]))
            if not label.objects.isdisjoint(named):
                found.append(said)
        return found

    def warnings(self) -> list[Agreed]:
        """What at least two narrators say not to do, in their words."""
        found: dict[str, list[tuple[int, Quote]]] = defaultdict(list)
        for said in self._all():
            mention = said.mention
            before = "".join(f"{word} " for word in said.words[: said.verb])
            is_clear = mention.noun or mention.verb not in _LIGHT
            is_warning = mention.negated and is_clear and mention.verb not in _NO_WARNING
            if is_warning and _FORBIDDING.search(before):
                quote = said.quote(before=2 * _WORDS_BEFORE)
                # "Don't jack it up", "before you loosen the nuts": a warning may go on.
                if len(said.words) - said.end < _FEW_WORDS / 2 and quote.text[-1].isalpha():
                    quote = replace(quote, text=f"{quote.text}{self._continued(mention)}")
                found[f"{mention.verb} {mention.noun}".strip()].append((len(quote.text), quote))
        agreed = [Agreed.by_rank(act, quotes) for act, quotes in sorted(found.items())]
        return _most_frequent(agreed)[:_MAX_WARNINGS]

    def _continued(self, mention: Mention) -> str:
        """The beginning of the sentence after that of a mention."""
        for following in self._sentences[mention.video][mention.sentence + 1 :][:1]:
            words = [word.text for word in following.words]
            text = " ".join(words[: _QUOTE_WORDS // 2])
            return f" {text}{' …' if len(words) > _QUOTE_WORDS // 2 else ''}"
        return ""

    def things_used(self) -> list[Agreed]:
        """The tools and materials that several narrators use, the most frequent first.

        They are named as most narrators do ("levers", "baking soda"), and counted wherever they
        are worked with. What the job is done to (the tire that is changed), or without, is left
        out, but not an ingredient.
        """
        is_usable, is_tool = _usable(_USED), _usable(_TOOLS)
        uses: dict[str, list[_Use]] = defaultdict(list)
        for said in self._all():
            if said.mention.is_work and not said.mention.negated:
                for use in _uses(said):
                    # "Green pepper" is another thing than "pepper".
                    kind = " ".join([*said.words[: use.at][-1:], use.noun])
                    uses[kind if is_usable(kind) else use.noun].append(use)
        name, _, without = self.result.task.name.partition("without")
        job, left_out = {*map(stem, words(name))}, {*map(stem, words(without))}
        min_videos = max(_MIN_VIDEOS, _MIN_SHARE * len(self.result.task.videos))
        things = []
        for noun, found in sorted(uses.items()):
            stems = {*map(stem, (noun, noun.split()[-1]))}
            # What is made is not what it is made of: "crack the eggs", but "cut the sushi".
            is_known = is_tool(noun) and job.isdisjoint(stems) and noun not in PRODUCTS
            users = _narrators(use.said for use in found if is_known or use.is_sure)
            is_other = is_tool(noun) or job_words(name).head not in stems
            is_listed = is_other and is_usable(noun) and left_out.isdisjoint(stems)
            if is_listed and users >= min_videos:
                things.append(_thing(noun, found))
        return _most_frequent(things)[:_MAX_THINGS]


def _narrators(said: Iterable[_Said]) -> int:
    return len({each.mention.video for each in said})


def _most_frequent(found: Iterable[Agreed]) -> list[Agreed]:
    """The statements that several narrators make, the most frequent first."""
    agreed = [each for each in found if each.videos >= _MIN_VIDEOS]
    return sorted(agreed, key=lambda each: -each.videos)


def _near(mention: Mention, places: Mapping[str, Localisation]) -> Localisation | None:
    """The place in the video of a mention, if it is about where the mention is."""
    place = places.get(mention.video)
    if place is None or place.time is None:
        return None
    start = place.time if place.start is None else place.start
    end = place.time if place.end is None else place.end
    return place if start - _NEAR <= mention.start <= end + _NEAR else None


class _Use(NamedTuple):
    """A thing in an act, as a lemma; which word it is, and whether it is surely used."""

    said: _Said
    noun: str
    at: int
    is_sure: bool


def _uses(said: _Said) -> Iterator[_Use]:
    """The things that are worked with in an act."""
    mention = said.mention
    for noun in dict.fromkeys([*mention.tools, mention.noun, *(p.noun for p in mention.places)]):
        forms = [n for n, word in enumerate(said.words) if _is_form(word, noun)]
        if not forms or not noun.isalpha():
            continue
        at = min(forms, key=lambda n: (n < said.verb, abs(n - said.verb)))
        # "Not with the levers", "if you got an onion".
        is_denied = not _DENYING.isdisjoint(said.words[max(0, min(at, said.verb) - 4) : at])
        is_verb = not _DETERMINERS.isdisjoint(said.words[at + 1 : at + 2])  # "lever it off"
        if not (is_denied or is_verb):
            is_object = noun == mention.noun and mention.verb in _USING
            yield _Use(said, noun, at, noun in mention.tools or is_object)


def _thing(noun: str, uses: Sequence[_Use]) -> Agreed:
    """A thing by the name that most narrators use, "eggs", and the clearest quote of each."""
    # "With the levers": what is opened may be another lever.
    sure = [use for use in uses if use.is_sure] or uses
    forms = Counter(use.said.words[use.at] for use in sure)
    name = max(forms, key=lambda form: (forms[form], form))

    def rank(use: _Use) -> tuple[bool, bool, int]:
        return not use.is_sure, not use.said.is_told, len(use.said.words)

    quotes = ((rank(use), use.said.quote(use.at)) for use in uses)
    return Agreed.by_rank(" ".join([*noun.split()[:-1], name]), quotes)


def _is_form(word: str, noun: str) -> bool:
    """Whether a word is a noun in singular or plural."""
    return word in (noun, f"{noun}s", f"{noun}es", re.sub("y$", "ies", noun))


def _usable(kinds: Iterable[str]) -> Callable[[str], bool]:
    """A function that tells whether a noun often means a thing of these kinds, as hypernyms."""
    wordnet = WordNet.load()

    def synsets(names: Iterable[str]) -> set[int]:
        return {s for name in names for s in wordnet.synset_ids(name, "noun").tolist()}

    physical = synsets(["physical entity"])
    used = {s for s in synsets(kinds) if not physical.isdisjoint(wordnet.ancestors(s))}
    food = used & synsets(["food", "foodstuff"])
    not_used, body_part = synsets(_NOT_USED), synsets(["body part"])
    vague = synsets(_VAGUE) | {int(wordnet.synset_ids("material", "noun")[0])}

    def is_below(synset: int, heads: set[int]) -> bool:
        above = wordnet.ancestors(synset)
        return not heads.isdisjoint(above) and not_used.isdisjoint(above) and synset not in vague

    @cache
    def usable(noun: str) -> bool:
        senses = wordnet.synset_ids(noun, "noun").tolist()
        if senses and not body_part.isdisjoint(wordnet.ancestors(senses[0])):
            return False
        # Sense frequencies with add-one smoothing.
        weights = [1 + count for count in wordnet.tag_counts(noun, "noun").tolist()]
        usable_weight = sum(w for s, w in zip(senses, weights, strict=True) if is_below(s, used))
        # Food may be the second sense: an egg and a fish are animals first.
        is_food = any(is_below(s, food) for s in senses[:2])
        return is_food or 0 < _MIN_SENSE_SHARE * sum(weights) <= usable_weight

    return usable

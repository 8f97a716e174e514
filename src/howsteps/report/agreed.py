"""What several narrators agree on besides the steps: things, durations, warnings, and their words.

Everything here is read from the captions: a statement comes with the words of every narrator who
makes it, and with fewer than two of them it is not made.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, islice, takewhile
from statistics import median
from typing import NamedTuple

from howsteps.narration.relevance import job_words, stem, words
from howsteps.narration.wordnet import WordNet
from howsteps.script.names import Namer, name_steps
from howsteps.task import Localisation, Mention, Place, Relation, Result, Sentence, Step

_MIN_VIDEOS = 2
_MIN_SHARE = 0.1  # of the videos, for a thing
_MAX_THINGS, _MAX_WARNINGS = 12, 6
_ALIKE = 0.5  # of the words of two quotes, from which on one of them is enough
_FEW_WORDS, _QUOTE_WORDS = 4, 14  # of a longer sentence, only the part about the act is quoted
_WORDS_BEFORE, _WORDS_AFTER = 3, 3
_PLACE_BEFORE, _PLACE_AFTER = 6, 8  # words; "here in this pan you're going to cook"
_NEAR = 10.0  # seconds between a mention and a place of the same moment

# "You need a jack", "grab a towel", "add some milk": verbs whose object is a tool or a material.
_USING = frozenset("add gather grab need require sprinkle use".split())
# Only with one of these before the object: "get some oil", not "get the oil off".
_SOME = frozenset("a an some two three four".split())
_GETTING = {"get": _SOME, "take": _SOME | {"your", "my", "our"}}
_DENYING = frozenset("not if without skip skipping avoid avoiding instead".split())
# "Wipe the soap off", "get it out of the cloth": what is removed is not used.
_REMOVING = frozenset({"away", "off", "out"})
_PER_FORM = 0.25  # of the uses; a rarer number is another thing: "peppers" are not "pepper"
_DETERMINERS = frozenset("a an the your my our this that it them".split())
_PREPOSITIONS = frozenset(
    """against around at below between by from in inside into of on onto over through to under
    underneath with""".split()
)
_KINDS = ("in inside into", "on onto over", "under underneath below", "at by around against")
_NEED_A_PLACE = frozenset("insert lay place put set stick".split())
_NAMINGS = 3  # relations of a step after which it may be named
_PARTICLES = frozenset("apart aside away back down off on out over together up".split())
_OF_THE_VIDEO = frozenset({"video", "link"})
# WordNet hypernyms of tools, materials and ingredients; hypernyms of other things; and
# nouns that are too vague to be listed.
_USED = (
    *("instrumentality", "fabric", "commodity", "covering", "decoration", "ware"),
    *("food", "foodstuff", "substance", "material", "liquid", "fuel", "plant part", "plant"),
)
_NOT_USED = (
    *("gas", "body part", "body substance", "person", "vehicle", "meal", "clothing", "footwear"),
    "waste",
)
_VAGUE = "artifact instrumentality commodity covering substance food plant device".split()
_VAGUE += "tool implement product ingredient equipment supply mixture batter".split()
_MIN_SENSE_SHARE = 0.25  # of the occurrences of a noun, by the frequencies of its senses

_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
_ONES = "one two three four five six seven eight nine".split()
_NUMBERS = {
    word: value
    for value, word in enumerate(
        [*_ONES, *"ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen".split()],
        1,
    )
} | dict(
    zip("twenty thirty forty fifty sixty ninety".split(), (20, 30, 40, 50, 60, 90), strict=True)
)
_AMOUNT = (
    rf"(?:(?:\d{{1,3}}(?:\.\d)?|(?:twenty|thirty|forty|fifty)[ -](?:{'|'.join(_ONES)})"
    rf"|{'|'.join(_NUMBERS)})(?: and a half)?|half an?|an?)"
)
# "for about five to ten minutes", "takes a minute or two"; neither "for another five minutes" nor
# "for five minutes more", which say nothing about the whole.
_DURATION = re.compile(
    r"(?<!\S)(?:for|takes?)(?P<about>(?: (?:about|around|at least|approximately|roughly|maybe|"
    rf"probably|exactly))*) (?P<low>{_AMOUNT})(?:(?: to | or |-|–)(?P<high>{_AMOUNT}))? "
    rf"(?P<unit>{'|'.join(_UNITS)})s?(?P<half> and a half)?(?P<two> or two)?(?!\S)"
    r"(?! (?:before|prior|ago|later|old|more|longer|max|tops)(?!\S))"
    rf"(?! (?:to|and) {_AMOUNT}(?!\S))(?! or (?!so|until|till))"
)
# Words after which a duration is about something else than the act before them, or a part of it.
_ELSEWHERE = frozenset(
    "after and as because before but if once or so then until when while".split()
)
_AGAIN = frozenset({"again", "back"})
_STATES = frozenset({"locate", "situate"})  # "the nest is located": nobody looks for it
_SIDES = frozenset({"side", "sides", "flip"})
# "Before you cut the steak", "after letting it rest": no good example of a step.
_AROUND = frozenset("after before how if once until when while".split())
_SUBJECTS = frozenset("and i i'll i'm let let's now then we we'll we're you you'll you're".split())
_JOINING = _AROUND | frozenset("and as because but i i'm is so then we which you you're".split())
_DANGLING = _JOINING | frozenset("a in of on or that the to what with".split())
_SIDE_WORDS = 6  # after a duration: "two minutes on the other side"

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
    """A statement that several narrators make, and their words."""

    text: str
    quotes: tuple[Quote, ...]

    @property
    def videos(self) -> int:
        """The number of narrators."""
        return len({quote.video for quote in self.quotes})

    @property
    def different(self) -> list[Quote]:
        """The quotes in their order, without those that say nearly the same as another.

        At least two remain, if there are as many narrators.
        """
        found: list[tuple[set[str], Quote]] = []
        for quote in self.quotes:
            own = set(quote.text.lower().split())
            if all(len(own & other) < _ALIKE * len(own | other) for other, _ in found):
                found.append((own, quote))
        quotes = [quote for _, quote in found]
        if len(quotes) == 1:
            [first] = quotes
            others = (q for q in self.quotes if q.video != first.video and q.text != first.text)
            quotes += islice(others, 1)
        return quotes


@dataclass(frozen=True, slots=True)
class Told(Agreed):
    """How a step is told, the clearest quote first.

    ``place`` is where that quote is, or None if that is a guess; ``is_named`` is false if all
    narrators say "it".
    """

    place: Localisation | None
    is_named: bool


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

    @property
    def near(self) -> set[str]:
        """The stems of the words of the act, and of a few around it."""
        return set(
            map(stem, self.words[max(0, self.begin - _WORDS_BEFORE) : self.end + _WORDS_AFTER])
        )

    def has_place(self, place: Place | None) -> bool:
        """Whether a place or tool is named near the act, and not with another preposition."""
        if place is None:
            return True
        first, last = max(0, self.begin - _PLACE_BEFORE), self.end + _PLACE_AFTER
        words = self.words[first : self.verb] + self.words[self.verb + 1 : last]
        noun, kind = stem(place.noun), _kind(place.preposition)
        own = [_kind(each.preposition) for each in self.mention.places if stem(each.noun) == noun]
        return noun in map(stem, words) and (not own or kind in own)

    def is_act(self, relation: Relation) -> bool:
        """Whether the act is this, and its verb is said."""
        nouns = (
            n for n in range(self.verb, len(self.words)) if _is_form(self.words[n], relation.noun)
        )
        between = self.words[self.verb : next(nouns, self.verb)]
        is_object = self.mention.relation == relation and bool(self.mention.noun)
        is_said = stem(relation.verb) in self.near
        return is_object and is_said and _PREPOSITIONS.isdisjoint({*between} - _PARTICLES)

    @property
    def details(self) -> Iterator[str]:
        """What distinguishes the act from others of its kind: which object, and where."""
        yield from self.mention.modifiers
        yield from (place.noun for place in self.mention.places)

    @property
    def is_told(self) -> bool:
        """Whether the act is told to be done: "you take", not "I took" or "after taking"."""
        return not self.is_around and self.words[self.verb : self.verb + 1] == [self.mention.verb]

    @property
    def is_around(self) -> bool:
        """Whether the act is told as before or after another, or if it is done at all."""
        return not _AROUND.isdisjoint(self.words[max(0, self.verb - _WORDS_BEFORE) : self.verb])

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
                tail = range(max(end, stop - _WORDS_AFTER), stop)
                stop = next((n for n in tail if self.words[n] in _AROUND), stop)  # "if the nest"
                while stop > end and self.words[stop - 1] in _DANGLING:
                    stop -= 1
        text = " ".join(words[first:stop])
        text = f"{'… ' if first else ''}{text}{' …' if stop < len(words) else ''}"
        return Quote(self.mention.video, self.mention.start, text)


def verbatim(mention: Mention, sentences: Sequence[Sentence]) -> str:
    """What is said at a mention, word for word; empty if its sentence is not known.

    It goes on to the end of the phrase: "push the tire back *on the rim*".
    """
    if mention.sentence >= len(sentences):
        return ""
    said = _Said(mention, sentences[mention.sentence])
    own = said.words[said.begin : said.end]
    rest = {*mention.phrase.lower().split()} - _DETERMINERS - {*own} if own else {}
    after = said.words[said.end : said.end + _PLACE_AFTER]
    end = said.end + max((n for n, word in enumerate(after, 1) if word in rest), default=0)
    return " ".join(word.text for word in said.sentence.words[said.begin : end]).rstrip(".,;:!?")


class Narrations:
    """What the narrators of a result say, by mention."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self._sentences = {video.id: video.sentences for video in result.task.videos}
        self._acts: dict[tuple[str, int], list[Mention]] = defaultdict(list)  # of a sentence
        for video in result.task.videos:
            for mention in video.mentions:
                self._acts[video.id, mention.sentence].append(mention)

    def _said(self, mentions: Iterable[Mention]) -> Iterator[_Said]:
        for mention in mentions:
            sentences = self._sentences.get(mention.video, ())
            if mention.sentence < len(sentences):
                yield _Said(mention, sentences[mention.sentence])

    def _all(self) -> Iterator[_Said]:
        return self._said(m for video in self.result.task.videos for m in video.mentions)

    def things_used(self) -> list[Agreed]:
        """The tools and materials that several narrators use, the most frequent first.

        They are named as most narrators do ("levers", "baking soda"), and counted wherever they
        are worked with. What the job is done to (the tire that is changed), or without, is left
        out.
        """
        is_usable = _usable(WordNet.load())
        uses: dict[str, list[_Use]] = defaultdict(list)
        for said in self._all():
            if said.mention.is_work and not said.mention.negated:
                for use in _things(said):
                    # "Green pepper" is another thing than "pepper".
                    kind = f"{said.words[use.at - 1]} {use.noun}" if use.at else use.noun
                    uses[kind if is_usable(kind) else use.noun].append(use)
        name = self.result.task.name
        left_out = {job_words(name).head, *map(stem, words(name.partition("without")[2]))}
        min_videos = max(_MIN_VIDEOS, _MIN_SHARE * len(self.result.task.videos))
        things = []
        for noun, found in uses.items():
            users = {use.said.mention.video for use in found if use.is_used}
            is_other = left_out.isdisjoint(map(stem, (noun, noun.split()[-1])))
            if len(users) >= min_videos and is_other and is_usable(noun):
                things.append(_thing(noun, found))
        things.sort(key=lambda thing: (-thing.videos, thing.text))
        # The "vanilla" of "vanilla extract" is not listed twice.
        parts = {word for thing in things for word in thing.text.split()[:-1]}
        return [
            thing for thing in things if thing.videos >= _MIN_VIDEOS and thing.text not in parts
        ][:_MAX_THINGS]

    def duration(self, step: Step) -> Agreed | None:
        """How long a step takes, from the shortest to the longest that its narrators say.

        Only what is said of an act of the step counts: "*cook* them for two minutes". Durations
        per side are separate; the kind that more narrators give is returned, if two of them do.
        """
        if not step.mentions:
            return None
        own, named = set(step.mentions), step.relations[0][0].verb
        found: dict[bool, list[tuple[str, str, Quote]]] = {False: [], True: []}
        for said in self._said(m for m in step.mentions if m.verb == named and not m.negated):
            acts = self._acts[said.mention.video, said.mention.sentence]
            others = [other.verb for other in self._said(m for m in acts if m not in own)]
            for first, last, low, high in _durations(said.words):
                elsewhere = {*said.words[said.end : first]} & _ELSEWHERE
                elsewhere |= {*said.words[said.verb : first]} & _AGAIN
                is_of_another = any(said.verb < other < first for other in others)
                if said.verb < first and not is_of_another and not elsewhere:
                    after = takewhile(_is_no_unit, said.words[last : last + _SIDE_WORDS])
                    per_side = not _SIDES.isdisjoint([*said.mention.phrase.split(), *after])
                    quote = said.quote(last + _WORDS_AFTER * per_side)
                    found[per_side].append((low, high, quote))
        per_side = max(found, key=lambda side: len({quote.video for *_, quote in found[side]}))
        spans = found[per_side]
        distinct = dict.fromkeys(quote for *_, quote in spans)
        quotes = tuple(sorted(distinct, key=lambda quote: len(quote.text)))
        if not _do_agree(spans):
            return None
        low = min((low for low, *_ in spans), key=_seconds)
        high = max((high for _, high, _ in spans), key=_seconds)
        text = high
        if _seconds(low) < _seconds(high):
            (value, unit), other = low.split(), high.split()[1]
            text = f"{value if unit.rstrip('s') == other.rstrip('s') else low}–{high}"
        return Agreed(f"{text} per side" if per_side else text, quotes)

    def warnings(self) -> list[Agreed]:
        """What at least two narrators say not to do, in their words."""
        found: dict[str, dict[str, Quote]] = defaultdict(dict)
        for said in self._all():
            mention = said.mention
            before = "".join(f"{word} " for word in said.words[: said.verb])
            is_clear = mention.noun or mention.verb not in _LIGHT
            is_warning = mention.negated and is_clear and mention.verb not in _NO_WARNING
            if is_warning and _FORBIDDING.search(before):
                act = f"{mention.verb} {mention.noun}".strip()
                quote = said.quote(before=2 * _WORDS_BEFORE)
                # "Don't jack it up", "before you loosen the nuts": a warning may go on.
                if len(said.words) - said.end < _FEW_WORDS / 2 and quote.text[-1].isalpha():
                    quote = replace(quote, text=f"{quote.text}{self._continued(mention)}")
                found[act].setdefault(mention.video, quote)
        agreed = [
            Agreed(act, tuple(sorted(quotes.values(), key=lambda quote: len(quote.text))))
            for act, quotes in sorted(found.items())
        ]
        agreed.sort(key=lambda warning: -warning.videos)
        return [warning for warning in agreed if warning.videos >= _MIN_VIDEOS][:_MAX_WARNINGS]

    def _continued(self, mention: Mention) -> str:
        """The beginning of the sentence after that of a mention."""
        for following in self._sentences[mention.video][mention.sentence + 1 :][:1]:
            words = [word.text for word in following.words]
            text = " ".join(words[: _QUOTE_WORDS // 2])
            return f" {text}{' …' if len(words) > _QUOTE_WORDS // 2 else ''}"
        return ""

    def told(self, number: int) -> Told:
        """Who tells to do a step, and how.

        The text is the label of the step, or if nobody says that, what comes nearest to it. Clear
        are mentions that name the step as its label does and tell it to be done, at its place, in
        a few words. A step that nobody says has the place with the highest confidence.
        """
        step = self.result.steps[number]
        own = set(_label_words(step.label)) - _PREPOSITIONS
        guessed = {
            place.video: place
            for place in self.result.localisations
            if place.step == number and place.time is not None
        }
        places = {video: place for video, place in guessed.items() if place.level != "guess"}

        def rank(said: _Said) -> tuple[bool, int, bool, bool, bool, bool, bool, bool, float]:
            place = _near(said.mention, places)
            return (
                not said.mention.is_work,
                -len(own & said.near) + said.is_around + ("again" in said.words[said.end :][:2]),
                not said.is_told,
                # The spare tire is removed, too, "from under the vehicle".
                not own.issuperset(map(stem, said.details)),
                said.mention.video in self.result.odd_videos,
                _near(said.mention, guessed) is None,
                place is None,
                not _FEW_WORDS <= len(said.words) <= _QUOTE_WORDS,
                -place.confidence if place else 0.0,
            )

        found: dict[str, _Said] = {}
        wording = self._wording(step)
        for said in sorted(wording.said, key=rank):
            found.setdefault(said.mention.video, said)
        clearest = next(iter(found.values()), None)
        if clearest is None:
            place = max(places.values(), key=lambda place: place.confidence, default=None)
        else:
            place = _near(clearest.mention, places)
        quotes = tuple(said.quote() for said in found.values())
        is_named = wording.named > 0 or wording.narrators > _MIN_VIDEOS
        return Told(wording.text, quotes, place, is_named)

    def _wording(self, step: Step) -> "_Wording":
        """The label of a step, or what comes nearest to it, and who says that.

        A label that a person wrote is right about the place or tool. One that was found may have
        these from elsewhere in the job; it is used as far as two narrators say the same, or three
        who say "it".
        """
        acts = (m for m in step.mentions if not m.negated and not (m.passive and m.verb in _STATES))
        said = list(self._said(acts))
        if not said:
            return _Wording(step.label, [])
        short, detail = _without_detail(step, said)
        plain = _in_words(short, said, bare=not step.relations[0][0].noun)
        found = [_Wording(step.label, plain)]
        if self.is_found_label(step):
            there = [each for each in plain if each.has_place(detail)]
            found = [_Wording(step.label, there), *_worded(short, plain)]
        for relation, _ in step.relations[:_NAMINGS]:
            own = [each for each in said if each.is_act(relation)]
            found += [each for each in _worded(_told(relation, own), own) if each.named]
        agreed = (each for each in found if each.narrators > _MIN_VIDEOS - (each.named > 0))
        return next(agreed, max(found, key=lambda each: (each.narrators, each.named)))

    def is_found_label(self, step: Step) -> bool:
        """Whether the label of a step is the one that its mentions give, not that of a person."""
        if not step.mentions:
            return False
        task, label = self.result.task, step.label.removesuffix(" again")
        # In small jobs, a name may be what one narrator says.
        names = (name_steps(task, [[step.mentions]], Namer(task, n)) for n in (2, 1))
        return any(named.label == label for [named] in names)


class _Wording(NamedTuple):
    """A way to tell a step, and the mentions that say it."""

    text: str
    said: Sequence[_Said]

    @property
    def narrators(self) -> int:
        """The number of narrators who say it."""
        return len({each.mention.video for each in self.said})

    @property
    def named(self) -> int:
        """The number of narrators who name its object, without a pronoun."""
        own = [each.mention for each in self.said if each.mention.noun]
        return len({mention.video for mention in own if not mention.resolved})


def _without_detail(step: Step, said: Iterable[_Said]) -> tuple[str, Place | None]:
    """A label up to the place or tool, and that, if there is one."""
    words = step.label.split()
    objects = {stem(each.mention.relation.noun) for each in said}
    last = next((n for n, word in enumerate(words) if stem(word.strip(",").lower()) in objects), 0)
    for n in range(last + 1, len(words) - 1):
        if last and words[n] in _PREPOSITIONS:
            return " ".join(words[:n]), Place(words[n], words[-1])
    return step.label, None


def _in_words(label: str, said: Sequence[_Said], *, bare: bool) -> list[_Said]:
    """The mentions with the words of a label.

    Not needed is the object where a pronoun stands for it ("put it on" says "put the wheel on"),
    or, in a step that most narrators name without one (``bare``), nothing.
    """
    own = _label_words(label)
    objects = {stem(each.mention.relation.noun) for each in said}.intersection(own)
    last = next((n for n, word in enumerate(own) if word in objects), 0)
    phrase = {word for word in own[1 : last + 1] if word not in _PARTICLES}

    def is_said(each: _Said) -> bool:
        act, needed = each.mention, {*own} - {"in"}
        if bare and not (act.noun or act.places):
            needed &= {own[0], *_PARTICLES}
        elif objects and stem(act.relation.noun) not in objects:
            return False
        return stem(act.verb) in own and each.near >= needed - (phrase if act.resolved else set())

    return [each for each in said if is_said(each)]


def _told(relation: Relation, own: Sequence[_Said]) -> str:
    """A relation in the words of a how-to: "put in the eggs"."""
    used = {(each.mention.video, each.mention.particle) for each in own}
    particles = Counter(particle for _, particle in used)
    particle = max(particles, key=lambda each: (particles[each], each), default="")
    forms = Counter(word for each in own for word in each.words if _is_form(word, relation.noun))
    noun = max(forms, key=lambda form: (forms[form], form), default=relation.noun)
    if 2 * sum("let" in each.near for each in own) > len(own):
        return f"let the {noun} {relation.verb}"
    return " ".join(filter(None, (relation.verb, particle, "the", noun))) if noun else ""


def _worded(words: str, said: Sequence[_Said]) -> Iterator[_Wording]:
    """Some words with the place that most narrators name, and without."""
    verb, *others = words.split() or [""]
    named = {(each.mention.video, place) for each in said for place in each.mention.places}
    places = Counter(place for _, place in named if stem(place.noun) not in map(stem, others))
    place = max(places, key=lambda p: (places[p], p.noun, p.preposition), default=None)
    if place and words:
        preposition = place.preposition.removeprefix(f"{others[-1]} " if others else "")
        there = [each for each in said if place in each.mention.places]
        yield _Wording(f"{words} {preposition} the {place.noun}", there)
    if words and (verb not in _NEED_A_PLACE or not _PARTICLES.isdisjoint(others)):
        yield _Wording(words, said)


def _kind(preposition: str) -> str:
    """Prepositions of the same kind: "underneath" is "under"."""
    *_, last = preposition.split() or [""]  # "out of"
    return next((kind for kind in _KINDS if last in kind.split()), last)


def _label_words(label: str) -> list[str]:
    """The stems of the words of a label, without articles."""
    words = (word.strip(",") for word in label.lower().split())
    return [stem(word) for word in words if word not in _DETERMINERS]


def _near(mention: Mention, places: Mapping[str, Localisation]) -> Localisation | None:
    """The place in the video of a mention, if it is about where the mention is."""
    place = places.get(mention.video)
    if place is None or place.time is None:
        return None
    start = place.time if place.start is None else place.start
    end = place.time if place.end is None else place.end
    return place if start - _NEAR <= mention.start <= end + _NEAR else None


class _Use(NamedTuple):
    """A thing in an act, as a lemma, where it is said, and whether it is surely used."""

    said: _Said
    noun: str
    at: int
    is_used: bool


def _things(said: _Said) -> Iterator[_Use]:
    """The things that are worked with in an act."""
    mention = said.mention
    nouns = dict.fromkeys([*mention.tools, mention.noun, *(p.noun for p in mention.places)])
    is_got = mention.verb in _GETTING and not (mention.particle or mention.places)
    for noun in nouns:
        forms = [n for n, word in enumerate(said.words) if _is_form(word, noun)]
        if not forms or not noun.isalpha() or noun in _OF_THE_VIDEO:
            continue
        at = min(forms, key=lambda n: (n < said.verb, abs(n - said.verb)))
        # "Not with the levers", "if you got an onion", "pump a bit of air".
        is_denied = not _DENYING.isdisjoint(said.words[max(0, min(at, said.verb) - 4) : at])
        is_verb = at + 1 < len(said.words) and said.words[at + 1] in _DETERMINERS
        near = {mention.particle, *said.words[at + 1 : at + 2], *said.words[said.verb + 1 : at]}
        is_removed = noun == mention.noun and not _REMOVING.isdisjoint(near)
        if is_denied or is_verb or is_removed:
            continue
        between = said.words[said.verb + 1 : at]
        is_new = is_got and not _GETTING[mention.verb].isdisjoint(between)
        is_object = noun == mention.noun and (mention.verb in _USING or is_new)
        yield _Use(said, noun, at, noun in mention.tools or is_object)


def _thing(noun: str, uses: Sequence[_Use]) -> Agreed:
    """A thing by the name that most narrators use, "eggs", and the clearest quote of each."""
    forms = Counter(use.said.words[use.at] for use in uses)
    used = Counter(use.said.words[use.at] for use in uses if use.is_used)
    name = max(used, key=lambda form: (used[form], form))
    uses = [use for use in uses if forms[use.said.words[use.at]] >= _PER_FORM * len(uses)]

    def rank(use: _Use) -> tuple[bool, bool, int]:
        return not use.is_used, not use.said.is_told, len(use.said.words)

    quotes: dict[str, Quote] = {}
    for use in sorted(uses, key=rank):
        quotes.setdefault(use.said.mention.video, use.said.quote(use.at))
    return Agreed(" ".join([*noun.split()[:-1], name]), tuple(quotes.values()))


def _is_form(word: str, noun: str) -> bool:
    """Whether a word is a noun in singular or plural."""
    return word in (
        noun,
        f"{noun}s",
        f"{noun}es",
        f"{noun[:-1]}ies" if noun.endswith("y") else noun,
    )


def _usable(wordnet: WordNet) -> Callable[[str], bool]:
    """A function that tells whether a noun often means a tool, a material or an ingredient."""

    def synsets(names: Iterable[str]) -> set[int]:
        return {s for name in names for s in wordnet.synset_ids(name, "noun").tolist()}

    physical = synsets(["physical entity"])
    used = {s for s in synsets(_USED) if not physical.isdisjoint(wordnet.ancestors(s))}
    food = used & synsets(["food", "foodstuff"])
    not_used = synsets(_NOT_USED)
    vague = synsets(_VAGUE) | {int(wordnet.synset_ids("material", "noun")[0])}

    def is_below(synset: int, heads: set[int]) -> bool:
        above = wordnet.ancestors(synset)
        return not heads.isdisjoint(above) and not_used.isdisjoint(above) and synset not in vague

    body_part = synsets(["body part"])

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


def _durations(words: Sequence[str]) -> Iterator[tuple[int, int, str, str]]:
    """The durations in some words: indices of the first and after the last, shortest, longest."""
    text = " ".join(words)
    starts = {
        start: n for n, start in enumerate(accumulate((len(w) + 1 for w in words), initial=0))
    }
    for found in _DURATION.finditer(text):
        first, last = starts[found.start()], starts[found.end() + 1]
        low = _value(found["low"]) + 0.5 * bool(found["half"])
        high = _value(found["high"]) if found["high"] else low + bool(found["two"])
        # "For a second", "for a minute": a figure of speech.
        is_vague = found["low"] == "a" and low == high and not found["about"]
        if low <= high and not is_vague:
            yield first, last, _shown(low, found["unit"]), _shown(high, found["unit"])


def _do_agree(spans: Sequence[tuple[str, str, Quote]]) -> bool:
    """Whether two narrators say about the same: within a factor of two of the median."""
    said = {quote.video: (_seconds(low) + _seconds(high)) / 2 for low, high, quote in spans}
    usual = median(said.values()) if said else 0.0
    return sum(usual / 2 <= one <= 2 * usual for one in said.values()) >= _MIN_VIDEOS


def _is_no_unit(word: str) -> bool:
    return word.rstrip("s") not in _UNITS


def _value(text: str) -> float:
    """The number of an amount: "5", "half an", "twenty five", "one and a half"."""
    if text.startswith("half"):
        return 0.5
    total = 0.0
    for part in re.split(r"[ -]", text.removesuffix(" and a half")):
        total += 1 if part in ("a", "an") else _NUMBERS.get(part) or float(part)
    return total + 0.5 * text.endswith(" and a half")


def _shown(value: float, unit: str) -> str:
    return f"{value:g} {unit}{'' if value == 1 else 's'}"


def _seconds(amount: str) -> float:
    value, unit = amount.split()
    return float(value) * _UNITS[unit.rstrip("s")]

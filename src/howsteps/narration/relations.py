"""Extract verb–object pairs from a dependency parse, and find those that narrators have in common.

The paper takes every verb with a noun as its direct object. Mode ``default`` also takes other
constructions with the same meaning: passives ("the nuts are removed"), pronouns ("take *it* off")
and measures ("a cup of *flour*").
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from howsteps.narration import grammar
from howsteps.narration.grammar import Antecedents, is_pronoun
from howsteps.task import Mention, Relation, Task

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


# ``default`` extracts acts (:mod:`howsteps.narration.acts`), the others pairs as in the paper.
MODES = ("default", "paper", "authors")


@dataclass(frozen=True, slots=True)
class Pair:
    """A verb, its object, and the token in the position of the object, which may be a pronoun."""

    verb: Token
    noun: Token
    spoken: Token
    passive: bool = False

    @property
    def resolved(self) -> bool:
        """Whether the object was a pronoun."""
        return is_pronoun(self.spoken)


# Nouns and numerals of amount: in "a cup of flour" the object is the flour.
MEASURES = frozenset(
    """all amount bag batch bit bottle bowl box bunch bundle can chunk clove couple cup dab dash
    dollop dozen drizzle drop dusting fourth few gallon glass glug gram half handful helping
    inch jar kilo kilogram kind knob layer litre liter lot majority milliliter mil most
    ounce pack package packet pair part piece pinch pint plenty portion pound quart quarter
    rest scoop set sheet slice smidge smidgen some sort spoon spoonful splash sprinkle
    sprinkling squeeze squirt stick tablespoon tad teaspoon third tin ton touch tub type
    variety one two three four five six each both any none much many""".split()
)
# Nouns of extent, duration or frequency, which may follow the real object: "turn the nuts a bit",
# "lift the car a few inches".
EXTENTS = frozenset(
    """bit centimeter day degree feet foot hour inch lot mile millimeter minute morning second step
    time turn way while""".split()
)
# Ditransitive verbs, whose first object is the recipient: "give *the wheel* a spin".
_DITRANSITIVE = frozenset("bring buy get give hand make send show teach tell".split())
# Verbs with which a pronoun refers to a statement, not to an object: "do that", "I know this".
_PROPOSITIONAL = frozenset("do know mean say think".split())


def find_relations(doc: Doc, antecedents: Antecedents) -> list[Pair]:
    """Return all verb–object pairs of a parsed passage, in the order of their verbs.

    ``antecedents`` are those of the passages before this one, and are updated.
    """
    antecedents.next_passage(doc)
    pairs = []
    for verb in filter(grammar.is_verb, doc):
        subjects = _passive_subjects(verb)
        for spoken in _with_conjuncts(subjects or _direct_objects(verb)):
            noun: Token | None = measured(spoken)
            if is_pronoun(spoken) and noun == spoken:
                is_statement = verb.lemma_ in _PROPOSITIONAL
                noun = None if is_statement else antecedents.resolve(spoken, verb)
            if noun is not None and grammar.is_noun(noun):
                pairs.append(Pair(verb, noun, spoken, bool(subjects)))
                antecedents.add(noun, spoken)
    return pairs


def find_direct_objects(doc: Doc) -> list[Pair]:
    """Return the verb–object pairs of a parsed passage that the paper takes."""
    return [
        Pair(verb, noun, noun)
        for verb in filter(grammar.is_verb, doc)
        if not _passive_subjects(verb)
        for noun in _with_conjuncts(_direct_objects(verb))
        if grammar.is_noun(noun)
    ]


def _with_conjuncts(objects: Iterable[Token]) -> Iterator[Token]:
    for obj in objects:
        yield obj
        yield from filter(grammar.is_noun, grammar.conjuncts(obj))


def _direct_objects(verb: Token) -> list[Token]:
    objects = [obj for obj in grammar.children(verb, grammar.OBJECT) if not _is_relativiser(obj)]
    if objects:
        return [_direct_object(verb, objects)]
    return [] if _is_in_relative_clause(verb) else _shared_objects(verb)


def _direct_object(verb: Token, objects: list[Token]) -> Token:
    """Choose the direct object among several that the parser found."""
    candidates = [obj for obj in objects if obj.lemma_ not in EXTENTS] or objects
    return candidates[-1] if verb.lemma_ in _DITRANSITIVE else candidates[0]


def _is_relativiser(token: Token) -> bool:
    clause = token.head
    return (
        clause.dep_ in grammar.RELATIVE_CLAUSE
        and token.i < clause.i
        and token.lower_ in {"that", "which", "who", "whom", "what"}
    )


def _is_in_relative_clause(verb: Token) -> bool:
    """Whether the object may be what the clause is about: "the nuts you want to *remove*"."""
    while verb.dep_ not in grammar.RELATIVE_CLAUSE:
        coordinated = verb.dep_ == "conj" and verb.head.pos_ == "VERB"
        if verb.dep_ not in grammar.COMPLEMENT and not coordinated:
            return False
        verb = verb.head
    return True


def _shared_objects(verb: Token) -> list[Token]:
    """Return objects shared with a coordinated verb: "jack up and secure *the car*"."""
    if any(
        child.dep_ in {"obl", "xcomp", "ccomp", "prep"}
        or (child.dep_ == "advmod" and child.i > verb.i)
        for child in verb.children
    ):
        return []
    if verb.dep_ == "conj" and verb.head.pos_ == "VERB":
        # Treebanks attach a shared object to the first verb.
        return [o for o in grammar.children(verb.head, grammar.OBJECT) if o.i > verb.i]
    for other in grammar.conjuncts(verb):
        between = verb.doc[verb.i + 1 : other.i]
        bare = all(t.dep_ in {"cc", "punct", "advmod", *grammar.PARTICLE} for t in between)
        objects = [obj for obj in grammar.children(other, grammar.OBJECT) if obj.i > other.i]
        if other.pos_ == "VERB" and objects and bare and len(between) <= 3:
            return objects
    return []


def _passive_subjects(verb: Token) -> list[Token]:
    subjects = grammar.children(verb, grammar.PASSIVE_SUBJECT)
    # "The nuts that were removed": the noun is the head of the clause.
    return [verb.head if _is_relativiser(subject) else subject for subject in subjects]


def measured(noun: Token) -> Token:
    """Return the noun that a measure applies to: "one of the *nuts*", "a cup of *flour*"."""
    if noun.lower_.rstrip("s") not in MEASURES and noun.lower_ not in MEASURES:
        return noun
    for child in noun.children:
        if child.dep_ in grammar.OF_PHRASE and child.i > noun.i:
            if child.lower_ == "of":  # ClearNLP: the preposition is the head of the phrase
                inner = next(iter(grammar.children(child, {"pobj"})), None)
                return noun if inner is None else measured(inner)
            if any(t.lower_ == "of" for t in grammar.children(child, {"case"})):
                return measured(child)
    return noun


@dataclass(frozen=True, slots=True)
class CommonRelation:
    """A relation with its usual phrase, the numbers of its videos and mentions, and an example."""

    relation: Relation
    phrase: str
    videos: int
    mentions: int
    example: Mention


def common_relations(task: Task) -> list[CommonRelation]:
    """Return the relations of a task, sorted by the number of videos that mention them.

    Negated mentions ("don't remove the nuts") do not count.
    """
    groups: dict[Relation, list[Mention]] = defaultdict(list)
    for video in task.videos:
        for mention in video.mentions:
            if not mention.negated:
                groups[mention.relation].append(mention)
    common = [
        CommonRelation(
            relation,
            usual_phrase(mentions),
            len({mention.video for mention in mentions}),
            len(mentions),
            _clearest(mentions),
        )
        for relation, mentions in groups.items()
    ]
    return sorted(common, key=lambda entry: (-entry.videos, -entry.mentions, entry.relation))


def usual_phrase(mentions: Iterable[Mention]) -> str:
    """Return the most frequent phrase; of equally frequent ones, the shortest."""
    counts = Counter(mention.phrase for mention in mentions)
    return min(counts, key=lambda phrase: (-counts[phrase], len(phrase), phrase))


def _clearest(mentions: list[Mention]) -> Mention:
    """The first mention, preferably with an explicit object, and active."""
    return min(mentions, key=lambda m: (m.resolved, m.passive, m.video, m.start))

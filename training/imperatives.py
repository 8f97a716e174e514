"""Instructions made up by a small grammar, with their trees.

Treebanks hold few commands, and hardly any that open with a word that looks like a noun or an
adjective ("water the plants", "lower the car"), put the particle first ("mix in the flour") or end
on a measure ("tighten it half a turn"). These are cheap to make, and their trees are certain.
"""

from dataclasses import dataclass
from random import Random

from training.treebanks import GENERATED, Document, Token, Tree

Context = tuple[tuple[str, ...], ...]
# One line per kind of work: verbs (many look like other words), things, and where they go.
WORK: tuple[Context, ...] = tuple(
    tuple(tuple(part.split()) for part in line.split("|"))
    for line in (
        "lower raise engage loosen tighten jack block torque grease secure lift release level check"
        "|car wheel lug-nut bolt parking-brake hubcap jack-stand axle wrench lever hood oil-filter"
        "|under-frame onto-hub into-trunk with-wrench on-ground",
        "season butter salt oil whisk flour toast brown dice slice warm drain dry cool bread pepper"
        "|chicken egg pan slice onion garlic-clove butter dough mixture bowl pasta baking-sheet"
        "|in-bowl into-pan with-fork on-plate over-heat",
        "water weed plant seed mulch prune trim rake shovel dig pot fertilize soak clear"
        "|plant bed soil root branch flower-pot seedling lawn leaf garden-hose hole"
        "|in-ground around-stem with-hose into-pot",
        "sand paint glue nail screw hammer saw drill clamp tape mark plane level frame prime seal"
        "|board edge wall corner drywall-panel hole shelf bracket surface door-frame hinge joint"
        "|with-brush against-wall on-bench to-stud",
        "clean empty open close dry wipe rinse plug charge cap light press flush dust iron bag"
        "|filter tank lid valve drain-plug battery cable shirt seam cover button power-cord"
        "|with-cloth into-outlet in-sink on-counter",
    )
)
PARTICLES = tuple(
    pair.split()
    for pair in (
        "take off,put on,jack up,pull out,mix in,pour in,turn on,turn off,screw in,pop off,"
        "fold in,roll out,cut out,add in,slide in,lift off,clean out,set down,plug in,dry off"
    ).split(",")
)
DETERMINERS = {"the": "DT", "a": "DT", "each": "DT", "this": "DT", "your": "PRP$"}
OPENERS = {"then": "ADV", "now": "ADV", "next": "ADV", "first": "ADV", "so": "ADV", "okay": "INTJ"}


@dataclass(frozen=True, slots=True)
class Phrase:
    """A word with the phrases that hang on it, before and after; ``tag`` is xpos/upos."""

    word: str
    tag: str
    deprel: str
    before: tuple["Phrase", ...] = ()
    after: tuple["Phrase", ...] = ()
    lemma: str | None = None


def tree_of(phrase: Phrase) -> Tree:
    """Write a phrase out; words that start with an apostrophe or n't lean on the one before."""
    words: list[Phrase] = []
    heads: dict[int, Phrase] = {}

    def visit(part: Phrase, parent: Phrase) -> None:
        for child in part.before:
            visit(child, part)
        heads[len(words)] = parent
        words.append(part)
        for child in part.after:
            visit(child, part)

    visit(phrase, phrase)
    place = {id(part): index for index, part in enumerate(words)}
    leans = [part.word in {"'re", "n't", "na"} for part in words]
    return tuple(
        Token(
            part.word,
            part.lemma or part.word,
            part.tag.split("/")[1],
            part.tag.split("/")[0],
            place[id(heads[index])],
            part.deprel,
            not (index + 1 < len(words) and leans[index + 1]),
        )
        for index, part in enumerate(words)
    )


def leaf(word: str, tag: str, deprel: str, lemma: str | None = None) -> Phrase:
    """A word with nothing hanging on it."""
    return Phrase(word, tag, deprel, lemma=lemma)


def noun(name: str, deprel: str, random: Random, *before: Phrase) -> Phrase:
    """A thing with its determiner; "lug-nut" is a compound of two words."""
    *modifiers, head = name.split("-")
    determiner = random.choice(list(DETERMINERS))
    part = "DET/det" if DETERMINERS[determiner] == "DT" else "PRON/nmod:poss"
    upos, relation = part.split("/")
    article = leaf(determiner, f"{DETERMINERS[determiner]}/{upos}", relation)
    compounds = (leaf(word, "NN/NOUN", "compound") for word in modifiers)
    return Phrase(head, "NN/NOUN", deprel, (*before, article, *compounds))


def things(names: tuple[str, ...], random: Random) -> Phrase:
    """An object: one thing, or two joined by "and"."""
    first = noun(random.choice(names), "obj", random)
    if random.random() > 0.15:
        return first
    second = noun(random.choice(names), "conj", random, leaf("and", "CC/CCONJ", "cc"))
    return Phrase(first.word, first.tag, first.deprel, first.before, (second,))


def measure(random: Random) -> Phrase:
    """How far, how often or how long: an adverbial without a preposition."""
    a, every = leaf("a", "DT/DET", "det"), leaf("every", "DT/DET", "det")
    half, two = leaf("half", "PDT/DET", "det:predet"), leaf("two", "CD/NUM", "nummod")
    quarter, little = leaf("quarter", "NN/NOUN", "compound"), leaf("little", "JJ/ADJ", "amod")
    word, before = random.choice(
        [
            ("turn", (half, a)),
            ("turn", (a, quarter)),
            ("inch", (half, a)),
            ("bit", (a, little)),
            ("day", (every,)),
            ("times", (two,)),
            ("turns", (two,)),
        ]
    )
    lemma = word.removesuffix("s")
    tag = "NN/NOUN" if lemma == word else "NNS/NOUN"
    return Phrase(word, tag, "obl:unmarked", before, lemma=lemma)


def command(work: Context, deprel: str, random: Random, *before: Phrase) -> Phrase:
    """A verb in its base form with an object and, at times, a particle, a place or a measure."""
    verbs, names, places = work
    thing = things(names, random)
    after: list[Phrase] = [thing]
    verb = random.choice(verbs)
    if random.random() < 0.2:
        verb, particle = random.choice(PARTICLES)
        after.insert(random.randrange(2), leaf(particle, "RP/ADP", "compound:prt"))
    chance = random.random()
    if chance < 0.15:
        after.append(measure(random))
    elif chance < 0.35:
        preposition, _, place = random.choice(places).partition("-")
        after.append(noun(place, "obl", random, leaf(preposition, "IN/ADP", "case")))
    return Phrase(verb, "VB/VERB", deprel, before, tuple(after))


def instruction(random: Random) -> Tree:
    """One instruction, as a narrator would put it."""
    work = random.choice(WORK)
    opener: tuple[Phrase, ...] = ()
    if random.random() < 0.4:
        word = random.choice(list(OPENERS))
        tag, relation = ("RB", "advmod") if OPENERS[word] == "ADV" else ("UH", "discourse")
        opener = (leaf(word, f"{tag}/{OPENERS[word]}", relation),)
    you = leaf("you", "PRP/PRON", "nsubj")
    to, na = leaf("to", "TO/PART", "mark"), leaf("na", "TO/PART", "mark")
    joined = leaf("and", "CC/CCONJ", "cc")
    chance = random.random()
    if chance < 0.1:  # go ahead and tighten the nut
        ahead = leaf("ahead", "RB/ADV", "advmod")
        go = (ahead, command(work, "conj", random, joined))
        return tree_of(Phrase("go", "VB/VERB", "root", opener, go))
    if chance < 0.2:  # you want to tighten the nut
        wanted = command(work, "xcomp", random, to)
        verb = random.choice(("want", "need", "have"))
        return tree_of(Phrase(verb, "VBP/VERB", "root", (*opener, you), (wanted,)))
    if chance < 0.3:  # you're gonna tighten the nut
        are = leaf("'re", "VBP/AUX", "aux", "be")
        coming = command(work, "xcomp", random, na)
        return tree_of(Phrase("gon", "VBG/VERB", "root", (*opener, you, are), (coming,), "go"))
    if chance < 0.35:  # don't tighten the nut
        do, not_ = leaf("do", "VB/AUX", "aux"), leaf("n't", "RB/PART", "advmod", "not")
        return tree_of(command(work, "root", random, *opener, do, not_))
    first = command(work, "root", random, *opener)
    if chance < 0.6:  # tighten the nut and lower the car
        then = (leaf("then", "RB/ADV", "advmod"),) if random.random() < 0.4 else ()
        second = command(work, "conj", random, joined, *then)
        first = Phrase(first.word, first.tag, "root", first.before, (*first.after, second))
    return tree_of(first)


def instructions(count: int, random: Random) -> Document:
    """A document of made-up instructions."""
    return Document(GENERATED, GENERATED, tuple(instruction(random) for _ in range(count)))

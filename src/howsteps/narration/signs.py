"""Signs of work and talk in the words around an act.

Each sign is a short name; :mod:`howsteps.narration.work` weighs them. They say how the act is put
(who does it, when, under which condition), what it is (its verb, what kind of object), and what is
said around it. None of them knows the job.
"""

from collections.abc import Iterator

from spacy.tokens import Token

from howsteps.narration import grammar
from howsteps.narration.acts import Act

# Words on either side of the verb that are looked at.
REACH = 8
# The share of a video, and the seconds, in which narrators greet and take leave.
EDGE = 0.03
GREETING = 15.0
_SUBJECTS = frozenset({"nsubj", "nsubj:pass", "nsubjpass", "expl", "csubj"})
_CLAUSES = frozenset({"advcl", "acl", "acl:relcl", "relcl", "ccomp", "csubj", "parataxis"})
_DEPTH = 5  # verbs above an act that are looked at
_PEOPLE = {
    "i": "i", "me": "i", "you": "you", "we": "we", "'s": "we", "us": "we", "it": "thing",
    "this": "thing", "that": "thing", "these": "thing", "those": "thing", "they": "they",
    "them": "they", "he": "they", "she": "they", "people": "they", "who": "who", "which": "who",
    "there": "there", "everybody": "they", "someone": "they", "somebody": "they",
}  # fmt: skip


def signs(act: Act, *, negated: bool) -> set[str]:
    """The signs of one act, apart from where in the video it is said."""
    verb = act.verb
    found = {f"verb={act.lemma}", f"tag={verb.tag_}", f"dep={verb.dep_}"}
    if act.noun is not None:
        found.add(f"noun={act.noun.lemma_}")
    found |= set(_object_signs(act))
    found |= set(_chain_signs(act))
    found |= set(_word_signs(act))
    if negated:
        found.add("negated")
    return found


def _object_signs(act: Act) -> Iterator[str]:
    if act.said:
        yield "given" if act.verb.lemma_ == "give" else "fragment"
    if act.noun is None:
        yield "no object" if act.spoken is None else "object unclear"
    elif act.resolved:
        yield f"object={act.spoken.lower_}" if act.spoken is not None else "object left out"
    else:
        determiners = [
            child.lower_
            for child in act.noun.lefts
            if child.dep_ in {"det", "nmod:poss", "poss", "nummod"}
        ]
        word = determiners[0] if determiners else "none"
        yield f"determiner={word if not word[:1].isdigit() else 'number'}"
        if act.noun.tag_ in {"NNS", "NNPS"}:
            yield "plural"
    if act.places:
        yield "placed"
        yield f"place={act.places[0].preposition}"
    if act.tools:
        yield "tool"
    if act.passive:
        yield "passive"
    if act.lets:
        yield "lets"


def _chain_signs(act: Act) -> Iterator[str]:
    """What stands above the verb: helpers, clauses and their openers, up to the main verb."""
    verb, subject, seen = act.verb, "", 0
    while True:
        subject = subject or _subject(verb)
        yield from _around(verb, is_act=not seen)
        head = verb.head
        if head == verb or seen >= _DEPTH:
            break
        if verb.dep_ in grammar.COMPLEMENT:
            yield f"under={head.lemma_}"
        elif verb.dep_ in _CLAUSES:
            yield f"in={verb.dep_}"
            # A new clause has a subject of its own, if only an unspoken one.
            subject = subject or "none"
        elif verb.dep_ != "conj":
            yield f"below={verb.dep_}"
            break
        verb, seen = head, seen + 1
        if head.pos_ not in {"VERB", "AUX", "ADJ"}:
            break
    subject = subject or "none"
    yield f"subject={subject}"
    yield f"subject={subject} tag={act.verb.tag_}"
    if subject == "none" and act.verb.tag_ in {"VB", "VBP"} and not seen:
        yield "imperative"


def _subject(verb: Token) -> str:
    for child in grammar.children(verb, _SUBJECTS):
        return _PEOPLE.get(child.lower_, "noun")
    return ""


def _around(verb: Token, *, is_act: bool) -> Iterator[str]:
    """The small words that hang on one verb."""
    for child in verb.children:
        dep, word = child.dep_, child.lower_
        if dep == "mark" and word != "to":
            yield f"mark={word}"
        elif dep == "mark" and is_act:
            yield "to"
        elif dep == "advmod" and child.i < verb.i:
            yield f"adverb={word}"
        elif dep.startswith("aux"):
            yield f"aux={word}"
        elif word in {"not", "n't", "never"}:
            yield "not"
        elif dep == "cc" and is_act:
            yield f"cc={word}"


def _word_signs(act: Act) -> Iterator[str]:
    doc, at = act.verb.doc, act.verb.i
    sentence = act.verb.sent
    for token in doc[max(sentence.start, at - REACH) : min(sentence.end, at + REACH + 1)]:
        if token.i != at:
            yield f"near={token.lower_}"


def place_signs(start: float, end: float, duration: float) -> Iterator[str]:
    """Where in a video of ``duration`` seconds an act is said: openings and endings are talk."""
    share = start / duration if duration > 0 else 0.0
    yield f"at={min(int(10 * share), 9)}"
    if share < EDGE:
        yield "opening"
    if share > 1 - EDGE:
        yield "ending"
    if start < GREETING:
        yield "greeting"
    if duration - end < GREETING:
        yield "goodbye"

"""Verb–object pairs of a parse, one construction at a time."""

import pytest
from spacy.tokens import Doc

from howsteps.narration import grammar
from howsteps.narration.grammar import Antecedents
from howsteps.narration.relations import common_relations, find_direct_objects, find_relations
from howsteps.task import Mention, Sentence, Task, Video, Word
from tests.narration.trees import tree


def pairs(doc: Doc) -> list[str]:
    return [f"{p.verb.lemma_} {p.noun.lemma_}" for p in find_relations(doc, Antecedents())]


REMOVE_THE_NUTS = "remove VB 0 root; the DT 3 det; nuts NNS 1 obj"

NUTS_AND_WHEEL = (
    "remove VB 0 root; the DT 3 det; nuts NNS 1 obj; and CC 6 cc; the DT 6 det; wheel NN 3 conj"
)

JACK_UP_AND_SECURE_ON_FIRST = (
    "jack VB 0 root; up RP 1 compound:prt; and CC 4 cc; "
    "secure VB 1 conj; the DT 6 det; car NN 1 obj"
)

JACK_UP_AND_SECURE_ON_LAST = JACK_UP_AND_SECURE_ON_FIRST.replace("NN 1 obj", "NN 4 obj")

NUTS_ARE_REMOVED = "the DT 2 det; nuts NNS 4 nsubj:pass; are VBP 4 aux:pass; removed VBN 0 root"

NUTS_YOU_REMOVED = (
    "find VB 0 root; the DT 3 det; nuts NNS 1 obj; you PRP 5 nsubj; removed VBD 3 acl:relcl"
)

LOOSEN_AND_TAKE_THEM_OFF = (
    "loosen VB 0 root; the DT 3 det; nuts NNS 1 obj; and CC 5 cc; "
    "take VB 1 conj; them PRP 5 obj; off RP 5 compound:prt"
)

TAKE_IT_OFF_AFTER_PLURAL = LOOSEN_AND_TAKE_THEM_OFF.replace("them PRP", "it PRP")

CUP_OF_FLOUR = "add VB 0 root; a DT 3 det; cup NN 1 obj; of IN 5 case; flour NN 3 nmod"

ONE_OF_THE_NUTS = "remove VB 0 root; one CD 1 obj; of IN 5 case; the DT 5 det; nuts NNS 2 nmod"


@pytest.mark.parametrize(
    ("parse", "expected"),
    [
        (REMOVE_THE_NUTS, ["remove nut"]),
        (NUTS_AND_WHEEL, ["remove nut", "remove wheel"]),
        (JACK_UP_AND_SECURE_ON_FIRST, ["jack car", "secure car"]),
        (JACK_UP_AND_SECURE_ON_LAST, ["jack car", "secure car"]),
        (
            "go VB 0 root; ahead RB 1 advmod; and CC 4 cc; remove VB 1 conj; "
            "the DT 6 det; nuts NNS 4 obj",
            ["remove nut"],
        ),
        (NUTS_ARE_REMOVED, ["remove nut"]),
        (NUTS_YOU_REMOVED, ["find nut"]),
        (
            "find VB 0 root; the DT 3 det; nuts NNS 1 obj; that WDT 6 obj; "
            "you PRP 6 nsubj; removed VBD 3 acl:relcl",
            ["find nut"],
        ),
        (
            "find VB 0 root; the DT 3 det; tire NN 1 obj; that WDT 5 nsubj; fell VBD 3 acl:relcl",
            ["find tire"],
        ),
        (
            "find VB 0 root; the DT 3 det; tool NN 1 obj; you PRP 5 nsubj; "
            "work VBP 3 acl:relcl; with IN 5 obl",
            ["find tool"],
        ),
        (
            "find VB 0 root; the DT 3 det; nuts NNS 1 obj; you PRP 5 nsubj; "
            "want VBP 3 acl:relcl; to TO 7 mark; remove VB 5 xcomp",
            ["find nut"],
        ),
        (
            "find VB 0 root; the DT 3 det; nuts NNS 1 obj; that WDT 6 nsubj:pass; "
            "were VBD 6 aux:pass; removed VBN 3 acl:relcl",
            ["find nut", "remove nut"],
        ),
        ("turn VB 0 root; the DT 3 det; nut NN 1 obj; a DT 5 det; bit NN 1 obj", ["turn nut"]),
        ("give VB 0 root; the DT 3 det; wheel NN 1 obj; a DT 5 det; spin NN 1 obj", ["give spin"]),
        ("lift NN 0 root; the DT 3 det; car NN 1 obj", ["lift car"]),
        (LOOSEN_AND_TAKE_THEM_OFF, ["loosen nut", "take nut"]),
        (TAKE_IT_OFF_AFTER_PLURAL, ["loosen nut"]),
        (CUP_OF_FLOUR, ["add flour"]),
        (ONE_OF_THE_NUTS, ["remove nut"]),
    ],
)
def test_every_construction(parse: str, expected: list[str]) -> None:
    assert pairs(tree(parse)) == expected


@pytest.mark.parametrize(
    ("parse", "expected"),
    [
        (REMOVE_THE_NUTS, ["remove nut"]),
        (NUTS_AND_WHEEL, ["remove nut", "remove wheel"]),
        (NUTS_ARE_REMOVED, []),
        (NUTS_YOU_REMOVED, ["find nut"]),
        (LOOSEN_AND_TAKE_THEM_OFF, ["loosen nut"]),
        (CUP_OF_FLOUR, ["add cup"]),
        (ONE_OF_THE_NUTS, []),
    ],
)
def test_paper_mode_takes_active_direct_objects_that_are_nouns(
    parse: str, expected: list[str]
) -> None:
    found = find_direct_objects(tree(parse))
    assert [f"{pair.verb.lemma_} {pair.noun.lemma_}" for pair in found] == expected


def test_clearnlp_labels() -> None:
    parse = NUTS_ARE_REMOVED.replace("nsubj:pass", "nsubjpass")
    assert pairs(tree(parse)) == ["remove nut"]
    assert pairs(tree(REMOVE_THE_NUTS.replace("obj", "dobj"))) == ["remove nut"]


def test_a_resolved_pronoun_keeps_its_token() -> None:
    _, taken = find_relations(tree(LOOSEN_AND_TAKE_THEM_OFF), Antecedents())
    assert taken.resolved
    assert (taken.noun.text, taken.spoken.text) == ("nuts", "them")


def test_a_pronoun_may_refer_to_the_previous_passage() -> None:
    antecedents = Antecedents()
    find_relations(tree(REMOVE_THE_NUTS), antecedents)
    [later] = find_relations(tree("clean VB 0 root; them PRP 1 obj"), antecedents)
    assert later.noun.text == "nuts"


FLIP_IT = (
    "toast VB 0 root; the DT 3 det; bread NN 1 obj; lower VB 0 root; the DT 6 det; "
    "flame NN 4 obj; flip VB 0 root; it PRP 7 obj"
)


def test_a_pronoun_refers_to_the_nearest_noun() -> None:
    assert pairs(tree(FLIP_IT))[-1] == "flip flame"


def test_a_pronoun_refers_to_a_frequent_noun_rather_than_the_nearest() -> None:
    antecedents = Antecedents()
    slices = "cut VB 0 root; bread NN 1 obj"
    for _ in range(4):
        find_relations(tree(slices), antecedents)
    *_, last = find_relations(tree(FLIP_IT), antecedents)
    assert last.noun.lemma_ == "bread"


def test_a_pronoun_without_an_antecedent_is_left_out() -> None:
    assert pairs(tree("take VB 0 root; it PRP 1 obj; off RP 1 compound:prt")) == []


def test_a_time_is_not_an_antecedent() -> None:
    parse = (
        "take VB 0 root; your PRP$ 3 nmod:poss; time NN 1 obj; and CC 5 cc; "
        "check VB 1 conj; it PRP 5 obj"
    )
    assert pairs(tree(parse)) == ["take time"]


@pytest.mark.parametrize(
    ("parse", "negated"),
    [
        ("do VB 3 aux; not RB 3 advmod; remove VB 0 root; nuts NNS 3 obj", True),
        ("never RB 2 advmod; remove VB 0 root; nuts NNS 2 obj", True),
        ("without IN 2 mark; removing VBG 0 root; nuts NNS 2 obj", True),
        (
            (
                "do VBP 3 aux; n't RB 3 advmod; need VB 0 root; to TO 5 mark; remove VB 3 xcomp; "
                "nuts NNS 5 obj"
            ),
            True,
        ),
        (
            (
                "do VB 3 aux; n't RB 3 advmod; touch VB 0 root; or CC 5 cc; remove VB 3 conj; "
                "nuts NNS 5 obj"
            ),
            True,
        ),
        (
            (
                "do VB 3 aux; n't RB 3 advmod; worry VB 0 root; and CC 5 cc; remove VB 3 conj; "
                "nuts NNS 5 obj"
            ),
            False,
        ),
        ("avoid VB 0 root; removing VBG 1 xcomp; nuts NNS 2 obj", True),
        (
            "never RB 2 advmod; gets VBZ 0 root; to TO 4 mark; remove VB 2 xcomp; nuts NNS 4 obj",
            True,
        ),
        (REMOVE_THE_NUTS, False),
    ],
)
def test_negation(parse: str, negated: bool) -> None:
    verb = next(token for token in tree(parse) if token.text.startswith("remov"))
    assert grammar.is_negated(verb) is negated


def test_noun_phrases_include_compounds() -> None:
    parse = tree(
        "take VB 0 root; off RP 1 compound:prt; the DT 6 det; rusty JJ 6 amod; "
        "lug NN 6 compound; nuts NNS 1 obj; on IN 8 case; top NN 6 nmod"
    )
    assert [token.text for token in grammar.noun_phrase(parse[5])] == [
        "the",
        "rusty",
        "lug",
        "nuts",
    ]
    particle = grammar.particle(parse[0])
    assert particle is not None
    assert particle.text == "off"


def mention(video: str, verb: str, noun: str, phrase: str = "", **other: object) -> Mention:
    return Mention(video, verb, noun, phrase or f"{verb} the {noun}", 1.0, 2.0, **other)  # type: ignore[arg-type]


TASK = Task(
    "fix",
    (
        Video(
            "a",
            sentences=(Sentence((Word("hi", 0.0, 0.12345),)),),
            mentions=(
                mention("a", "remove", "nut", "remove those nuts"),
                mention("a", "remove", "nut"),
                mention("a", "take", "look"),
            ),
        ),
        Video("b", mentions=(mention("b", "remove", "nut"),)),
        Video("c", mentions=(mention("c", "remove", "nut", negated=True),)),
    ),
)


def test_the_usual_phrase_is_the_most_frequent_one() -> None:
    assert common_relations(TASK)[0].phrase == "remove the nut"


def test_the_example_is_an_explicit_active_mention_if_possible() -> None:
    resolved = mention("a", "put", "tire", resolved=True)
    plain = mention("b", "put", "tire")
    task = Task("t", (Video("a", mentions=(resolved,)), Video("b", mentions=(plain,))))
    assert common_relations(task)[0].example == plain

"""Verb–object pairs of a parse, one construction at a time."""

import pytest
from spacy.tokens import Doc

from howsteps.narration import grammar
from howsteps.narration.grammar import Antecedents
from howsteps.narration.relations import (
    RELATION_MODES,
    RelationOptions,
    common_relations,
    find_relations,
)
from howsteps.task import Mention, Sentence, Task, Video, Word
from tests.narration.trees import tree

PAPER = RELATION_MODES["paper"]


def pairs(doc: Doc, options: RelationOptions = RELATION_MODES["default"]) -> list[str]:
    return [f"{pair.verb.lemma_} {pair.noun.lemma_}" for pair in find_relations(doc, options)]


REMOVE_THE_NUTS = """
remove VERB VB  0 root
the    DET  DT  3 det
nuts   NOUN NNS 1 obj
"""

NUTS_AND_WHEEL = """
remove VERB  VB  0 root
the    DET   DT  3 det
nuts   NOUN  NNS 1 obj
and    CCONJ CC  6 cc
the    DET   DT  6 det
wheel  NOUN  NN  3 conj
"""

JACK_UP_AND_SECURE_ON_FIRST = """
jack   VERB  VB 0 root
up     ADP   RP 1 compound:prt
and    CCONJ CC 4 cc
secure VERB  VB 1 conj
the    DET   DT 6 det
car    NOUN  NN 1 obj
"""

JACK_UP_AND_SECURE_ON_LAST = JACK_UP_AND_SECURE_ON_FIRST.replace("NN 1 obj", "NN 4 obj")

GO_AHEAD_AND_REMOVE = """
go     VERB  VB  0 root
ahead  ADV   RB  1 advmod
and    CCONJ CC  4 cc
remove VERB  VB  1 conj
the    DET   DT  6 det
nuts   NOUN  NNS 4 obj
"""

NUTS_ARE_REMOVED = """
the     DET  DT  2 det
nuts    NOUN NNS 4 nsubj:pass
are     AUX  VBP 4 aux:pass
removed VERB VBN 0 root
"""

REMOVED_AND_CLEANED = (
    NUTS_ARE_REMOVED
    + """and     CCONJ CC 6 cc
cleaned VERB VBN 4 conj
"""
)

WHEEL_NEEDS_TO_BE_REMOVED = """
the     DET  DT  2 det
wheel   NOUN NN  3 nsubj
needs   VERB VBZ 0 root
to      PART TO  6 mark
be      AUX  VB  6 aux:pass
removed VERB VBN 3 xcomp
"""

NUTS_YOU_REMOVED = """
find    VERB VB  0 root
the     DET  DT  3 det
nuts    NOUN NNS 1 obj
you     PRON PRP 5 nsubj
removed VERB VBD 3 acl:relcl
"""

NUTS_THAT_YOU_REMOVED = """
find    VERB VB  0 root
the     DET  DT  3 det
nuts    NOUN NNS 1 obj
that    PRON WDT 6 obj
you     PRON PRP 6 nsubj
removed VERB VBD 3 acl:relcl
"""

TIRE_THAT_FELL = """
find VERB VB  0 root
the  DET  DT  3 det
tire NOUN NN  1 obj
that PRON WDT 5 nsubj
fell VERB VBD 3 acl:relcl
"""

TOOL_YOU_WORK_WITH = """
find VERB VB  0 root
the  DET  DT  3 det
tool NOUN NN  1 obj
you  PRON PRP 5 nsubj
work VERB VBP 3 acl:relcl
with ADP  IN  5 obl
"""

LOOSEN_AND_TAKE_THEM_OFF = """
loosen VERB  VB  0 root
the    DET   DT  3 det
nuts   NOUN  NNS 1 obj
and    CCONJ CC  5 cc
take   VERB  VB  1 conj
them   PRON  PRP 5 obj
off    ADP   RP  5 compound:prt
"""

TAKE_IT_OFF_AFTER_PLURAL = LOOSEN_AND_TAKE_THEM_OFF.replace("them   PRON", "it     PRON")

NUTS_YOU_WANT_TO_REMOVE = """
find   VERB VB  0 root
the    DET  DT  3 det
nuts   NOUN NNS 1 obj
you    PRON PRP 5 nsubj
want   VERB VBP 3 acl:relcl
to     PART TO  7 mark
remove VERB VB  5 xcomp
"""

NUTS_THAT_WERE_REMOVED = """
find    VERB VB  0 root
the     DET  DT  3 det
nuts    NOUN NNS 1 obj
that    PRON WDT 6 nsubj:pass
were    AUX  VBD 6 aux:pass
removed VERB VBN 3 acl:relcl
"""

TURN_THE_NUT_A_BIT = """
turn VERB VB 0 root
the  DET  DT 3 det
nut  NOUN NN 1 obj
a    DET  DT 5 det
bit  NOUN NN 1 obj
"""

GIVE_THE_WHEEL_A_SPIN = """
give  VERB VB 0 root
the   DET  DT 3 det
wheel NOUN NN 1 obj
a     DET  DT 5 det
spin  NOUN NN 1 obj
"""

LIFT_TAGGED_AS_A_NOUN = """
lift NOUN NN 0 root
the  DET  DT 3 det
car  NOUN NN 1 obj
"""

CUP_OF_FLOUR = """
add   VERB VB 0 root
a     DET  DT 3 det
cup   NOUN NN 1 obj
of    ADP  IN 5 case
flour NOUN NN 3 nmod
"""

ONE_OF_THE_NUTS = """
remove VERB VB  0 root
one    NUM  CD  1 obj
of     ADP  IN  5 case
the    DET  DT  5 det
nuts   NOUN NNS 2 nmod
"""


@pytest.mark.parametrize(
    ("parse", "expected"),
    [
        (REMOVE_THE_NUTS, ["remove nut"]),
        (NUTS_AND_WHEEL, ["remove nut", "remove wheel"]),
        (JACK_UP_AND_SECURE_ON_FIRST, ["jack car", "secure car"]),
        (JACK_UP_AND_SECURE_ON_LAST, ["jack car", "secure car"]),
        (GO_AHEAD_AND_REMOVE, ["remove nut"]),
        (NUTS_ARE_REMOVED, ["remove nut"]),
        (REMOVED_AND_CLEANED, ["remove nut", "clean nut"]),
        (WHEEL_NEEDS_TO_BE_REMOVED, ["remove wheel"]),
        (NUTS_YOU_REMOVED, ["find nut", "remove nut"]),
        (NUTS_THAT_YOU_REMOVED, ["find nut", "remove nut"]),
        (TIRE_THAT_FELL, ["find tire"]),
        (TOOL_YOU_WORK_WITH, ["find tool"]),
        (NUTS_YOU_WANT_TO_REMOVE, ["find nut", "remove nut"]),
        (NUTS_THAT_WERE_REMOVED, ["find nut", "remove nut"]),
        (TURN_THE_NUT_A_BIT, ["turn nut"]),
        (GIVE_THE_WHEEL_A_SPIN, ["give spin"]),
        (LIFT_TAGGED_AS_A_NOUN, ["lift car"]),
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
    assert pairs(tree(parse), PAPER) == expected


def test_clearnlp_labels() -> None:
    parse = NUTS_ARE_REMOVED.replace("nsubj:pass", "nsubjpass")
    assert pairs(tree(parse)) == ["remove nut"]
    assert pairs(tree(REMOVE_THE_NUTS.replace("obj", "dobj"))) == ["remove nut"]


def test_a_resolved_pronoun_keeps_its_token() -> None:
    _, taken = find_relations(tree(LOOSEN_AND_TAKE_THEM_OFF))
    assert taken.resolved
    assert (taken.noun.text, taken.spoken.text) == ("nuts", "them")


def test_a_pronoun_may_refer_to_the_previous_passage() -> None:
    antecedents = Antecedents()
    find_relations(tree(REMOVE_THE_NUTS), antecedents=antecedents)
    [later] = find_relations(
        tree("clean VERB VB 0 root\nthem PRON PRP 1 obj"), RELATION_MODES["default"], antecedents
    )
    assert later.noun.text == "nuts"


FLIP_IT = """
toast   VERB VB  0 root
the     DET  DT  3 det
bread   NOUN NN  1 obj
lower   VERB VB  0 root
the     DET  DT  6 det
flame   NOUN NN  4 obj
flip    VERB VB  0 root
it      PRON PRP 7 obj
"""


def test_a_pronoun_refers_to_the_nearest_noun() -> None:
    assert pairs(tree(FLIP_IT))[-1] == "flip flame"


def test_a_pronoun_refers_to_a_frequent_noun_rather_than_the_nearest() -> None:
    antecedents = Antecedents()
    slices = "cut VERB VB 0 root\nbread NOUN NN 1 obj"
    for _ in range(4):
        find_relations(tree(slices), antecedents=antecedents)
    *_, last = find_relations(tree(FLIP_IT), RELATION_MODES["default"], antecedents)
    assert last.noun.lemma_ == "bread"


def test_a_pronoun_without_an_antecedent_is_left_out() -> None:
    assert pairs(tree("take VERB VB 0 root\nit PRON PRP 1 obj\noff ADP RP 1 compound:prt")) == []


def test_a_time_is_not_an_antecedent() -> None:
    parse = """
    take  VERB VB 0 root
    your  PRON PRP$ 3 nmod:poss
    time  NOUN NN 1 obj
    and   CCONJ CC 5 cc
    check VERB VB 1 conj
    it    PRON PRP 5 obj
    """
    assert pairs(tree(parse)) == ["take time"]


@pytest.mark.parametrize(
    ("parse", "negated"),
    [
        ("do AUX VB 3 aux\nnot PART RB 3 advmod\nremove VERB VB 0 root\nnuts NOUN NNS 3 obj", True),
        ("never ADV RB 2 advmod\nremove VERB VB 0 root\nnuts NOUN NNS 2 obj", True),
        ("without SCONJ IN 2 mark\nremoving VERB VBG 0 root\nnuts NOUN NNS 2 obj", True),
        (
            "do AUX VBP 3 aux\nn't PART RB 3 advmod\nneed VERB VB 0 root\nto PART TO 5 mark\n"
            "remove VERB VB 3 xcomp\nnuts NOUN NNS 5 obj",
            True,
        ),
        (
            "do AUX VB 3 aux\nn't PART RB 3 advmod\ntouch VERB VB 0 root\nor CCONJ CC 5 cc\n"
            "remove VERB VB 3 conj\nnuts NOUN NNS 5 obj",
            True,
        ),
        (
            "do AUX VB 3 aux\nn't PART RB 3 advmod\nworry VERB VB 0 root\nand CCONJ CC 5 cc\n"
            "remove VERB VB 3 conj\nnuts NOUN NNS 5 obj",
            False,
        ),
        ("avoid VERB VB 0 root\nremoving VERB VBG 1 xcomp\nnuts NOUN NNS 2 obj", True),
        (
            "never ADV RB 2 advmod\ngets VERB VBZ 0 root\nto PART TO 4 mark\n"
            "remove VERB VB 2 xcomp\nnuts NOUN NNS 4 obj",
            True,
        ),
        (
            "not PART RB 2 advmod\nrecommend VERB VB 0 root\nremoving VERB VBG 2 xcomp\n"
            "nuts NOUN NNS 3 obj",
            True,
        ),
        ("nobody PRON NN 2 nsubj\nremoves VERB VBZ 0 root\nnuts NOUN NNS 2 obj", True),
        (REMOVE_THE_NUTS, False),
    ],
)
def test_negation(parse: str, negated: bool) -> None:
    verb = next(token for token in tree(parse) if token.text.startswith("remov"))
    assert grammar.is_negated(verb) is negated


@pytest.mark.parametrize(
    ("parse", "modal"),
    [
        ("should AUX MD 2 aux\nremove VERB VB 0 root\nnuts NOUN NNS 2 obj", "should"),
        ("'ll AUX MD 2 aux\nremove VERB VB 0 root\nnuts NOUN NNS 2 obj", "will"),
        ("need VERB VBP 0 root\nto PART TO 3 mark\nremove VERB VB 1 xcomp", "need to"),
        ("got VERB VBN 0 root\nto PART TO 3 mark\nremove VERB VB 1 xcomp", "have to"),
        ("going VERB VBG 0 root\nto PART TO 3 mark\nremove VERB VB 1 xcomp", "going to"),
        (REMOVE_THE_NUTS, ""),
    ],
)
def test_modality(parse: str, modal: str) -> None:
    verb = next(token for token in tree(parse) if token.text == "remove")
    assert grammar.modal(verb) == modal


def test_noun_phrases_include_compounds() -> None:
    parse = tree(
        "take VERB VB 0 root\noff ADP RP 1 compound:prt\nthe DET DT 6 det\nrusty ADJ JJ 6 amod\n"
        "lug NOUN NN 6 compound\nnuts NOUN NNS 1 obj\non ADP IN 8 case\ntop NOUN NN 6 nmod"
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

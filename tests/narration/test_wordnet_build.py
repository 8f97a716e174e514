"""The script that builds the WordNet tables, on a database of a few words."""

from pathlib import Path

import pytest

from howsteps.errors import InputError
from howsteps.narration.wordnet import WordNet
from training import wordnet as build

LICENCE = "  1 Free for all.  \n  2   \n  3 No warranty.  \n"
# entity ◄ tool ◄ {hammer, saw, Excalibur (an instance)}; open ↔ close; wet ↔ dry, damp like wet.
DATABASE = {
    "data.noun": LICENCE
    + """\
00000010 03 n 01 entity 0 000 | that which is
00000020 06 n 02 tool 0 Implement 0 001 @ 00000010 n 0000 | thing to work with
00000030 06 n 01 hammer 0 001 @ 00000020 n 0000 | tool | to strike with
00000040 06 n 01 saw 0 001 @ 00000020 n 0000 | tool to cut with
00000050 18 n 01 Excalibur 0 001 @i 00000020 n 0000 | a sword, if that is a tool
00000060 10 n 01 saw a 000 | a saying
""",
    "index.noun": LICENCE
    + """\
entity n 1 0 1 0 00000010
excalibur n 1 1 @i 1 0 00000050
hammer n 1 1 @ 1 1 00000030
implement n 1 1 @ 1 0 00000020
saw n 2 1 @ 2 1 00000060 00000040
tool n 1 1 @ 1 0 00000020
""",
    "data.verb": """\
00000010 35 v 02 open 0 open_up 0 001 ! 00000020 v 0102 01 + 08 00 | make way
00000020 35 v 02 shut 0 close 1 001 ! 00000010 v 0201 01 + 08 00 | bar the way
00000030 39 v 01 see 0 000 01 + 08 00 | perceive
""",
    "index.verb": """\
close v 1 1 ! 1 1 00000020
open v 1 1 ! 1 0 00000010
open_up v 1 1 ! 1 0 00000010
see v 1 0 1 0 00000030
shut v 1 1 ! 1 0 00000020
""",
    "data.adj": """\
00000010 00 a 01 wet(p) 0 002 ! 00000020 a 0101 & 00000030 a 0000 | with water
00000020 00 a 01 dry 0 001 ! 00000010 a 0101 | without
00000030 00 s 01 damp 0 001 & 00000010 a 0000 | a little wet
""",
    "index.adj": """\
damp a 1 1 & 1 1 00000030
dry a 1 1 ! 1 0 00000020
wet a 1 2 ! & 1 0 00000010
""",
    "data.adv": "00000010 02 r 01 well 0 000 | in a good way\n",
    "index.adv": "well r 1 0 1 0 00000010\n",
    "noun.exc": "tula tool\ntula saw\ntula tool\n",
    "verb.exc": "saw see\n",
    "adj.exc": "",
    "adv.exc": "better well\n",
    "cntlist.rev": """\
close%2:35:01:: 1 4
damp%5:00:00:wet:00 1 3
forgotten%1:06:00:: 1 9
hammer%1:06:00:: 1 7
saw%1:06:00:: 1 2
saw%1:10:10:: 2 5
""",
}


def write(folder: Path, **changes: str) -> Path:
    """Write the database, with some files changed; the keys say ``data_noun`` for data.noun."""
    folder.mkdir(exist_ok=True)
    for name, content in DATABASE.items():
        (folder / name).write_text(changes.get(name.replace(".", "_"), content))
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wordnet")
    assert build.main([str(write(folder / "database")), "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def wordnet(built: Path) -> WordNet:
    return WordNet.load(built / "wordnet.npz")


def test_synsets_are_numbered_in_file_order(wordnet: WordNet) -> None:
    assert wordnet.synset_ids("entity", "noun").tolist() == [0]
    assert wordnet.synset_ids("open", "verb").tolist() == [6]
    assert wordnet.synset_ids("wet", "adj").tolist() == [9]
    assert wordnet.synset_ids("well", "adv").tolist() == [12]


def test_tag_counts_are_found_by_sense_key(wordnet: WordNet) -> None:
    assert wordnet.tag_counts("hammer", "noun").tolist() == [7]
    assert wordnet.tag_counts("saw", "noun").tolist() == [5, 2]
    assert wordnet.tag_counts("close", "verb").tolist() == [4]
    assert wordnet.tag_counts("damp", "adj").tolist() == [3]
    assert wordnet.tag_counts("shut", "verb").tolist() == [0]


def test_hypernyms_of_classes_and_instances(wordnet: WordNet) -> None:
    assert wordnet.ancestors(2) == {2: 0, 1: 1, 0: 2}  # hammer, tool, entity
    assert wordnet.ancestors(4) == {4: 0, 1: 1, 0: 2}  # Excalibur
    assert wordnet.ancestors(5) == {5: 0}


def test_exceptions_on_several_lines_are_joined(wordnet: WordNet) -> None:
    assert wordnet.lemmas("tula", "noun") == ("tool", "saw")
    assert wordnet.lemma("tula", "noun") == "saw"  # tagged more often
    assert wordnet.lemma("saw", "verb") == "see"
    assert wordnet.lemma("saws", "noun") == "saw"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("data_noun", "00000010 03 n 01 entity\n", r"data\.noun:1: is not in WordNet's format"),
        ("index_verb", "open v many\n", r"index\.verb:1: is not in WordNet's format"),
        ("verb_exc", "saw see\nsewn\n", r"verb\.exc:2: .*no lemma for sewn"),
        ("cntlist_rev", "open%2:35:00::\n", r"cntlist\.rev:1: "),
        ("index_adv", "well r 1 0 1 0 00000099\n", "leads nowhere"),
        ("data_adj", DATABASE["data.adj"].replace("001 & 00000010 a 0000", "000"), "nowhere"),
        ("data_adv", "00000010 02 r 01 sühr 0 000 | ?\n", r"data\.adv: .*not ASCII"),
    ],
)
def test_a_broken_database_is_refused_with_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str, content: str, message: str
) -> None:
    database = write(tmp_path / "database", **{file: content})
    with pytest.raises(InputError, match=message):
        build.build(database)
    assert build.main([str(database), "--out", str(tmp_path)]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not (tmp_path / "wordnet.npz").exists()

import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.training.trees import DO_NOT, LOWER_IT, is_tree, trees
from training.treebanks import (
    Document,
    genre_of,
    read_documents,
    restructure,
    shippable,
    write_documents,
)

TEXT = """\
# newdoc id = GUM_vlog_tire
# text = Don't lower it.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tlower\tlower\tVERB\tVB\t_\t0\troot\t_\t_
3.1\tit\tit\tPRON\tPRP\t_\t_\t_\t_\t_
4\tit\tit\tPRON\tPRP\t_\t3\tobj\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

# newdoc id = GUM_whow_toast
1\tFry\tfry\tVERB\tVB\t_\t0\troot\t_\t_
"""


def test_reads_words_heads_spaces_and_documents(tmp_path):
    path = tmp_path / "bank.conllu.xz"
    path.write_bytes(lzma.compress(TEXT.encode()))
    vlog, whow = read_documents(path)
    assert (vlog.id, vlog.genre, whow.genre) == ("GUM_vlog_tire", "vlog", "whow")
    (sentence,) = vlog.trees
    assert [token.form for token in sentence] == ["Do", "n't", "lower", "it", "."]
    assert [token.head for token in sentence] == [2, 2, 2, 2, 2]
    assert [token.space for token in sentence] == [False, True, True, False, True]
    assert [token.xpos for token in sentence] == ["VB", "RB", "VB", "PRP", "."]


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "bank.conllu.xz"
    documents = [Document("silver/a", "silver", (LOWER_IT, DO_NOT))]
    write_documents(path, documents)
    assert list(read_documents(path)) == documents


@pytest.mark.parametrize(
    ("name", "genre", "allowed"),
    [
        ("GUM_vlog_radiology", "vlog", True),
        ("GUM_whow_overalls", "whow", False),
        ("GUM_conversation_grounded", "conversation", False),
        ("answers/20111105112131AA6gIX6_ans", "answers", True),
    ],
)
def test_only_texts_whose_licence_allows_it_are_learnt_from(name, genre, allowed):
    assert genre_of(name) == genre
    assert shippable(Document(name, genre, ())) is allowed


@given(trees(), st.data())
def test_dropping_words_leaves_a_tree(tree, data):
    keep = data.draw(st.lists(st.sampled_from(range(len(tree))), min_size=1, unique=True))
    assert is_tree(restructure(tree, sorted(keep)))


def test_orphans_go_to_their_nearest_kept_ancestor():
    bare = restructure(DO_NOT, [0, 1, 3])
    assert [token.deprel for token in bare] == ["root", "advmod", "obj"]
    assert [token.head for token in bare] == [0, 0, 0]

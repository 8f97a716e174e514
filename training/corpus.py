"""Trees to spaCy documents: passages of several sentences, written or made to look spoken."""

from collections.abc import Iterable, Iterator
from random import Random

from spacy.language import Language
from spacy.tokens import Doc

from training.spoken import lower, spoken, unpunctuate
from training.treebanks import Document, Tree

LONGEST_PASSAGE = 12
SPOKEN_SHARE = 0.65


def to_doc(nlp: Language, trees: Iterable[Tree]) -> Doc:
    """Join trees into one document with gold tags, heads and sentence starts."""
    words, spaces, tags, pos, lemmas, heads, deps, starts = ([] for _ in range(8))
    for tree in trees:
        offset = len(words)
        for index, token in enumerate(tree):
            words.append(token.form)
            spaces.append(token.space)
            tags.append(token.xpos)
            pos.append(token.upos)
            lemmas.append(token.lemma)
            heads.append(offset + token.head)
            deps.append("ROOT" if token.head == index else token.deprel)
            starts.append(index == 0)
        if tree:
            spaces[-1] = True
    doc = Doc(
        nlp.vocab,
        words=words,
        spaces=spaces,
        tags=tags,
        pos=pos,
        lemmas=lemmas,
        heads=heads,
        deps=deps,
        sent_starts=starts,
    )
    copy_norms(nlp, doc)
    return doc


def copy_norms(nlp: Language, doc: Doc) -> None:
    """Give clitics the norm that the tokenizer gives them when it reads text ("n't": "not")."""
    start = 0
    for token in doc:
        if token.whitespace_ or token.i + 1 == len(doc):
            if token.i > start:
                chunk = nlp.tokenizer(doc[start : token.i + 1].text)
                if len(chunk) == token.i + 1 - start:
                    for place, part in enumerate(chunk, start):
                        doc[place].norm_ = part.norm_
            start = token.i + 1


def untagged(doc: Doc) -> Doc:
    """The words of a document, as the tokenizer would give them, and nothing else."""
    spaces = [bool(token.whitespace_) for token in doc]
    bare = Doc(doc.vocab, words=[token.text for token in doc], spaces=spaces)
    for source, target in zip(doc, bare, strict=True):
        target.norm_ = source.norm_
    return bare


def passages(document: Document, random: Random) -> Iterator[tuple[Tree, ...]]:
    """Cut a document into runs of one to a dozen sentences."""
    start = 0
    while start < len(document.trees):
        length = random.randint(1, LONGEST_PASSAGE)
        yield document.trees[start : start + length]
        start += length


def training_docs(nlp: Language, documents: Iterable[Document], random: Random) -> list[Doc]:
    """One pass over the documents, cut and altered anew each time it is called."""
    docs = []
    for document in documents:
        for trees in passages(document, random):
            if random.random() < SPOKEN_SHARE:
                trees = [spoken(tree, random) for tree in trees]
            if any(trees):
                docs.append(to_doc(nlp, trees))
    random.shuffle(docs)
    return docs


def clean_stream(document: Document) -> list[Tree]:
    """A whole document as it was written."""
    return list(document.trees)


def spoken_stream(document: Document) -> list[Tree]:
    """A whole document in lower case, without punctuation: nothing else is changed."""
    return [tree for tree in (lower(unpunctuate(tree)) for tree in document.trees) if tree]

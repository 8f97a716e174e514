"""Trees to spaCy documents and back."""

from collections.abc import Iterable

from spacy.language import Language
from spacy.tokens import Doc

from training.passages import Passage
from training.treebanks import Token, Tree


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
    for token, norm in zip(doc, norms(nlp, words, spaces), strict=True):
        token.norm_ = norm
    return doc


def norms(nlp: Language, words: list[str], spaces: list[bool]) -> list[str]:
    """The norm that the tokenizer gives each word when it reads text ("n't": "not")."""
    found: list[str] = []
    start = 0
    for end, space in enumerate(spaces, 1):
        if space or end == len(words):
            chunk = words[start:end]
            parts = nlp.tokenizer("".join(chunk)) if len(chunk) > 1 else ()
            if len(parts) == len(chunk):
                found += [part.norm_ for part in parts]
            else:
                found += [nlp.vocab[word].norm_ for word in chunk]
            start = end
    return found


def untagged(doc: Doc) -> Doc:
    """The words of a document, as the tokenizer would give them, and nothing else."""
    spaces = [bool(token.whitespace_) for token in doc]
    bare = Doc(doc.vocab, words=[token.text for token in doc], spaces=spaces)
    for source, target in zip(doc, bare, strict=True):
        target.norm_ = source.norm_
    return bare


def to_trees(doc: Doc) -> Passage:
    """The parsed sentences of a document as trees."""
    return [
        tuple(
            Token(
                token.text,
                token.lemma_,
                token.pos_,
                token.tag_,
                token.head.i - sentence.start,
                "root" if token.head.i == token.i else token.dep_,
                bool(token.whitespace_),
            )
            for token in sentence
        )
        for sentence in doc.sents
    ]


def parse(nlp: Language, texts: Iterable[Passage]) -> list[Passage]:
    """Read texts again, with their words and nothing else given."""
    bare = (untagged(to_doc(nlp, trees)) for trees in texts)
    return [to_trees(doc) for doc in nlp.pipe(bare, batch_size=4)]

"""Which relations count as which true step, as judged by people.

A discovered step counts as a true step when at least half of its mentions are relations that one
of the true step's rules allows. It may count as several, as "take the wheel" may be taking it off
or out.
"""

from collections.abc import Mapping, Sequence

from howsteps.task import Mention, Rule, Step

NOTE = "judged"


def steps_of(
    mention: Mention, judgement: Mapping[str, Sequence[Rule]], names: Sequence[str]
) -> list[int]:
    """The true steps that a mention may be of, counted in ``names``."""
    return [
        step
        for step, name in enumerate(names)
        if any(rule.allows(mention.relation) for rule in judgement.get(name, ()))
    ]


def judged(
    steps: Sequence[Step], judgement: Mapping[str, Sequence[Rule]], names: Sequence[str]
) -> list[set[int]]:
    """The true steps that each discovered step counts as, counted in ``names``."""
    options = []
    for step in steps:
        allowed = [steps_of(mention, judgement, names) for mention in step.mentions]
        options.append(
            {
                true
                for true in range(len(names))
                if allowed and 2 * sum(true in found for found in allowed) >= len(allowed)
            }
        )
    return options

from . import (
    datasets as datasets,
    evaluate as evaluate,
    localise as localise,
    narration as narration,
    paper as paper,
    report as report,
    script as script,
)
from .api import (
    AnswerFolder as AnswerFolder,
    Files as Files,
    LanguageModel as LanguageModel,
    Run as Run,
    apply as apply,
    discover as discover,
    export as export,
    place as place,
    read_result as read_result,
    run as run,
)
from .errors import (
    HowstepsError as HowstepsError,
    InputError as InputError,
    MissingExtra as MissingExtra,
    Problem as Problem,
)
from .task import (
    Caption as Caption,
    Localisation as Localisation,
    Mention as Mention,
    PlacedStep as PlacedStep,
    Relation as Relation,
    Result as Result,
    Script as Script,
    Sentence as Sentence,
    Step as Step,
    Task as Task,
    Video as Video,
    Word as Word,
)

__version__: str

"""The dialogue of the command discover: look at a map, name what it shows, fit the next map given that."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ._errors import ABOUT_INPUT, sentence
from ._fitting import OTHERS, TABLES, fit_map, leak_of, show_imputed, write_study
from ._folder import STUDY, Folder, open_folder, require_free
from ._options import Saving
from ._output import Output, progress
from ._text_map import text_map

if TYPE_CHECKING:
    import pandas as pd

    from ..discovery import Discovery, Step

QUESTION = "What do you recognise? (a number, a command, or help)"
MOST_ROWS = 30
REFERENCES = 99
HELP = """\
1, 2 …                    adopt the suggestion of this number, and fit again
column NAME               adopt a column of the table
axis NUMBER               adopt an axis of the map (1 is the first)
line FROM TO              adopt the direction from one object to another
groups NUMBER             adopt so many groups of objects
circle                    adopt the order around a circle
forget NAME               put a known feature aside, and fit again
fit [DIMENSIONS]          fit again, perhaps in another number of dimensions
undo                      go back to the map before
map, suggest, history     show the map, what it could show, what was done
save [FOLDER]             save the study
script [FILE]             print or write the Python code of the study
quit                      end
Names with blanks stand in quotes."""


class End(Exception):  # noqa: N818  (a message, no error)
    """The dialogue is over."""


@dataclass
class Dialogue:
    """A dialogue about a study.

    Parameters
    ----------
    output : Output
        Where to speak.
    study : Discovery
        The study; it is changed.
    estimator : str
        How to fit.
    params : dict
        Parameters of the fits.
    references : int
        Random maps for suggestions; 0 for no suggestions.
    folder : Folder or None
        Where to save.
    record : dict
        What the study was made from, to be written beside it.
    saves_at_end : bool
        Whether to save without being asked to.
    """

    output: Output
    study: Discovery
    estimator: str
    params: dict[str, Any]
    references: int
    folder: Folder | None
    record: dict[str, Any]
    saves_at_end: bool
    is_saved: bool = True
    was_saved: bool = False
    suggestions: list[dict[str, Any]] = field(default_factory=list)
    looked_at: list[tuple[Step, pd.DataFrame]] = field(default_factory=list)

    def run(self) -> bool:
        """Carry out commands until the end; return False if Ctrl-C ended the dialogue."""
        try:
            if self.study.steps:
                self._show()
            else:
                self._fit()
            while True:
                self._answer(self.output.ask(QUESTION))
        except End:
            self._offer_to_save()
        except (EOFError, KeyboardInterrupt) as end:
            self.output.tell("")
            self._save_at_end()
            return isinstance(end, EOFError)
        return True

    def _answer(self, line: str) -> None:
        try:
            words = shlex.split(line)
            if words:
                self._obey(words)
        except ABOUT_INPUT as error:
            self.output.tell(sentence(error))

    def _obey(self, words: list[str]) -> None:
        verb, *rest = words
        if verb.isdigit() and not rest:
            self._adopt_suggestion(int(verb))
            return
        if verb.lower() not in self.COMMANDS:
            raise ValueError(f"{verb!r} is no command; help lists them.")
        least, most, act = self.COMMANDS[verb.lower()]
        if not least <= len(rest) <= most:
            raise ValueError(
                f"{verb} takes {least if least == most else f'{least} to {most}'} words after it; see help."
            )
        act(self, *rest)

    # ---- fitting and showing

    def _fit(self, dimensions: str | None = None) -> None:
        if dimensions is not None:
            self.params = {**self.params, "n_components": _whole(dimensions, "DIMENSIONS")}
        step = fit_map(self.output, self.study, self.estimator, self.params)
        self.is_saved = False
        if not step.finished:
            self.output.tell("Stopped: this map is unfinished. undo takes it back, fit begins again.")
        self._show()

    def _show(self) -> None:
        self._show_map()
        if self.references:
            self._suggest()

    def _show_map(self) -> None:
        if not self.study.steps:
            self.output.tell("There is no map; fit makes one.")
            return
        step = self.study.step
        self.output.tell(f"\nMap {step.number}, {step.title}: stress {step.stress_in_words}{leak_of(step)}\n")
        show_imputed(self.output.tell, step)
        if step.n_components > 1:
            self.output.tell(text_map(step.embedding, *_size(self.output.dialogue.is_terminal)))
            self.output.tell("")
        if step.n_components and len(step.embedding) <= MOST_ROWS:
            self.output.tell_table(step.embedding.sort_values(step.embedding.columns[0]))

    def _suggest(self) -> None:
        self.suggestions = []
        if not self.study.steps or not self.study.step.n_components:
            return
        table = self._suggestions_for(self.study.step)
        self.suggestions = list(table["arguments"])
        if table.empty:
            self.output.tell("Nothing to suggest: the map is small, and there is no table to compare it with.")
            return
        shown = table[["what", "strength", "p_value"]].set_axis([str(at + 1) for at in table.index], axis=0)
        self.output.tell_table(shown, "It could show")

    def _suggestions_for(self, step: Step) -> pd.DataFrame:
        """Return what the last map could show, kept for when undo comes back to it: finding out takes seconds."""
        for seen, table in self.looked_at:
            if seen is step:
                return table
        with progress(self.output, "Looking for what it could show", None):
            table = self.study.suggest(5, n_references=self.references or REFERENCES)
        table = table[table["adopt"] != ""].reset_index(drop=True)
        self.looked_at.append((step, table))
        return table

    def _history(self) -> None:
        history = self.study.history
        shown = ["known", "n_components", "stress", "leak", "adopted", "why"]
        self.output.tell_table(history[shown].fillna({"known": "", "adopted": "", "why": ""}), "history", index="step")

    # ---- adopting

    def _adopt_suggestion(self, number: int) -> None:
        if not 1 <= number <= len(self.suggestions):
            raise ValueError(f"{number}: there are {len(self.suggestions)} suggestions; choose one, or write suggest.")
        way = dict(self.suggestions[number - 1])
        self._adopt(way.pop("name"), **way)

    def _adopt(self, default: str, **way: Any) -> None:
        """Ask for a name and a reason, adopt, and fit again; what cannot be adopted raises before the questions."""
        self.study.preview(**way)
        name = self.output.ask(f"What is it called? [{default}]") or default
        why = self.output.ask("Why? [no reason]")
        self.study.adopt(name, why=why, **way)
        self.is_saved = False
        self._fit()

    def _axis(self, axis: str) -> None:
        self._adopt(f"axis {axis}", from_axis=_whole(axis, "NUMBER", 1) - 1)

    def _line(self, start: str, end: str) -> None:
        self._adopt(f"{start} to {end}", along=(self._label(start), self._label(end)))

    def _label(self, text: str) -> Any:
        """Return the label that is written so: it may be a number."""
        for label in self.study.material.objects:
            if str(label) == text:
                return label
        raise ValueError(f"{text!r} is no object on the map; write a label as the table does.")

    def _forget(self, name: str) -> None:
        self.study.forget(name)
        self.is_saved = False
        self._fit()

    def _undo(self) -> None:
        """Go back to the map before: undo the last fit and what was adopted or put aside for it."""
        from ..discovery import Step

        self.output.tell(self.study.undo())
        while self.study.actions and not isinstance(self.study.actions[-1], Step):
            self.output.tell(self.study.undo())
        self.is_saved = False
        self._show()

    # ---- keeping

    def _save(self, path: str | None = None) -> None:
        if path is not None:
            self.folder = open_folder(Saving(Path(path)), TABLES, OTHERS)
        if self.folder is None:
            raise ValueError("save needs the name of a folder; write save FOLDER.")
        write_study(self.output, self.folder, self.study, data=self.record)
        self.is_saved = self.was_saved = True
        self.output.tell(f"Saved to {self.folder.path}")

    def _script(self, path: str | None = None) -> None:
        from ..io import atomic_path

        place = "study" if self.folder is None else str(self.folder.path / STUDY)
        text = self.study.to_script(place)
        if path is None:
            self.output.tell(text)
            return
        require_free(Path(path), force=False)
        with atomic_path(path) as draft:
            draft.write_text(text, encoding="utf-8")
        self.output.tell(f"Wrote {path}; it reads the study from {place}")

    def _offer_to_save(self) -> None:
        if self.is_saved or self.saves_at_end:
            self._save_at_end()
            return
        default = "" if self.folder is None else str(self.folder.path)
        try:
            answer = self.output.ask(f"Save to which folder? [{default or 'not at all'}]") or default
        except EOFError:
            answer = ""
        if answer:
            self._save(None if answer == default else answer)
        else:
            self.output.tell("Not saved.")

    def _save_at_end(self) -> None:
        if self.is_saved or not self.study.steps:
            return
        if self.saves_at_end:
            self._save()
        else:
            self.output.warn("the study was not saved; give --out DIR, or the command save.")

    def _end(self) -> None:
        raise End

    # Fewest and most words after a command, and the method that carries it out.
    COMMANDS: ClassVar[dict[str, tuple[int, int, Callable[..., None]]]] = {
        "column": (1, 1, lambda self, name: self._adopt(name, column=name)),
        "axis": (1, 1, _axis),
        "line": (2, 2, _line),
        "groups": (1, 1, lambda self, count: self._adopt("groups", groups=_whole(count, "NUMBER", 2))),
        "circle": (0, 0, lambda self: self._adopt("order", along="circle")),
        "forget": (1, 1, _forget),
        "fit": (0, 1, _fit),
        "undo": (0, 0, _undo),
        "map": (0, 0, _show_map),
        "suggest": (0, 0, _suggest),
        "history": (0, 0, _history),
        "save": (0, 1, _save),
        "script": (0, 1, _script),
        "help": (0, 0, lambda self: self.output.tell(HELP)),
        "?": (0, 0, lambda self: self.output.tell(HELP)),
        "quit": (0, 0, _end),
        "exit": (0, 0, _end),
    }


def _whole(text: str, what: str, least: int = 0) -> int:
    if not text.isdigit() or int(text) < least:
        raise ValueError(f"{what} {text!r} must be a whole number of at least {least}.")
    return int(text)


def _size(terminal: bool) -> tuple[int, int]:
    """Return the size of a map that fits the terminal; in a file it is always the same."""
    columns, lines = shutil.get_terminal_size((80, 32)) if terminal else (80, 32)
    return max(min(columns - 4, 120), 40), max(min(lines - 8, 30), 12)

"""Clatter: machines whose parts move, flex and knock on each other.

    import clatter
    model = clatter.Model("pendulum.yaml", parameters={"L": "2 m"})
    result = model.run()                       # or model.run("pendulum.h5", progress=...)
    result.time, result["rod.position"]        # NumPy arrays
    result                                     # in a notebook: the viewer

A model may also be a dictionary with the words of the model language, or YAML text (`Model.from_text`).
"""

import html as _html
import json as _json
import os as _os
import tempfile as _tempfile
import weakref as _weakref
from typing import Callable, Dict, List, Mapping, Optional, Union

from ._clatter import Answer, Event, Progress, Quantity, Simulation, __version__, studies
from ._clatter import ResultFile as _ResultFile
from ._clatter import Setup as _Setup
from ._clatter import ask as _ask
from ._clatter import run as _run
from .errors import Diagnostic, Error, InputError, ResultError, SolveError

__all__ = [
    "Answer", "Diagnostic", "Error", "Event", "InputError", "Model", "Progress", "Quantity", "Result", "ResultError",
    "Simulation", "SolveError", "__version__", "studies",
]


def _number_text(value: Union[str, float]) -> str:
    """A parameter as the model language writes it; repr keeps every digit."""
    return value if isinstance(value, str) else repr(float(value))


class Model:
    """A model and what is changed about it: as the options of `clatter run`.

    model:        path of a model file, or a dictionary in the model language
    parameters:   values that replace the model's: {"L": "2 m"} or {"mu": 0.3} (SI units)
    method, coordinates, end, step, tolerance: as on the command line
    """

    def __init__(
        self,
        model: Union[str, "_os.PathLike[str]", Mapping],
        *,
        parameters: Optional[Mapping[str, Union[str, float]]] = None,
        method: Optional[str] = None,
        coordinates: Optional[str] = None,
        end: Optional[float] = None,
        step: Optional[float] = None,
        tolerance: Optional[float] = None,
        name: str = "model",
        _text: Optional[str] = None,
    ) -> None:
        self._setup = setup = _Setup()
        if _text is not None:
            setup.file, setup.text = name, _text
        elif isinstance(model, Mapping):
            # JSON is YAML; one entry a line, so that messages point at something.
            try:
                setup.file, setup.text = name, _json.dumps(model, indent=1, allow_nan=False, default=_plain)
            except (TypeError, ValueError) as error:
                raise InputError(f"the dictionary is not a model: {error}") from None
        else:
            setup.file = _os.fspath(model)
        setup.method, setup.coordinates = method, coordinates
        setup.end, setup.step, setup.tolerance = end, step, tolerance
        setup.parameters = [(key, _number_text(value)) for key, value in (parameters or {}).items()]

    @classmethod
    def from_text(cls, text: str, **changes) -> "Model":
        """A model from YAML text; `name` stands for the file in messages."""
        return cls("", _text=text, **changes)

    def simulation(self) -> Simulation:
        """The model at its start, to be stepped by hand."""
        return Simulation(self._setup)

    def ask(self, study: str, progress: Optional[Callable[[Progress], Optional[bool]]] = None) -> Answer:
        """Any study of `clatter.studies()`; its answer has `columns`, `units` and `rows`.

        progress is called after every step; when it returns False the study stops, and the answer tells how far it came.
        """
        return _ask(self._setup, study, progress)

    def run(
        self,
        result: Optional[Union[str, "_os.PathLike[str]"]] = None,
        progress: Optional[Callable[[Progress], Optional[bool]]] = None,
    ) -> "Result":
        """Simulate into the file `result` (a temporary one, gone with the Result, unless given) and open it.

        progress is called after every step; when it returns False the run stops. A failing solve raises SolveError;
        what was recorded before stays in `result`. Ctrl-C raises KeyboardInterrupt, with the same.
        """
        if result is not None:
            path = _os.fspath(result)
            _run(self._setup, path, progress)
            return Result(path)
        folder = _tempfile.TemporaryDirectory(prefix="clatter-")
        path = _os.path.join(folder.name, "result.h5")
        try:
            _run(self._setup, path, progress)
        except BaseException:
            folder.cleanup()
            raise
        opened = Result(path)
        _weakref.finalize(opened, folder.cleanup)
        return opened


class Result:
    """A result file: `result["rod.position"]` is an array of all samples, `result.time` their times."""

    def __init__(self, path: Union[str, "_os.PathLike[str]"]) -> None:
        self._file = _ResultFile(_os.fspath(path))
        self._arrays: Dict[str, object] = {}

    path = property(lambda self: self._file.path, doc="Where it is.")
    model_name = property(lambda self: self._file.model_name)
    status = property(lambda self: self._file.status, doc="running, finished, failed, interrupted or killed.")
    message = property(lambda self: self._file.message, doc="How the run ended, where it did not finish.")
    summary = property(lambda self: self._file.summary, doc="What `clatter run` prints at the end.")
    settings = property(lambda self: self._file.settings)
    events = property(lambda self: self._file.events, doc="What happened and when.")

    def refresh(self) -> bool:
        """Take in what a running simulation has written since."""
        self._arrays.clear()
        return self._file.refresh()

    @property
    def quantities(self) -> List[Quantity]:
        """What is recorded."""
        return self._file.quantities

    def keys(self) -> List[str]:
        """Names of what is recorded."""
        return [q.name for q in self._file.quantities]

    @property
    def time(self):
        """Times of the samples, s. Two samples of one time are before and after an event."""
        return self._once("time", lambda: self._file.time)

    def __getitem__(self, quantity: str):
        """All samples of a quantity: an array of numbers, or one column a component ("rod.position", "rod.position.x")."""
        return self._once("=" + quantity, lambda: self._file[quantity])

    @property
    def ledger(self) -> Dict[str, object]:
        """The energy ledger: {"time": ..., "stored": ..., "work/...": ..., "remainder": ...}."""
        rows = {q.name: self._file.ledger(q.name) for q in self._file.ledger_quantities}
        return {"time": self._file.ledger_time, **rows}

    def _once(self, key: str, read):
        if key not in self._arrays:
            self._arrays[key] = read()
        return self._arrays[key]

    def report(
        self, path: Union[str, "_os.PathLike[str]"], megabytes: float = 50.0, force: bool = False
    ) -> None:
        """Write the viewer with this result in it as one file that opens anywhere.

        An earlier report is replaced; any other file only with `force`.
        """
        self._file.write_report(_os.fspath(path), megabytes, force)

    def __repr__(self) -> str:
        return f"<result of {self.model_name}, {self.status}, {len(self.time)} samples>"

    def _repr_html_(self) -> str:
        """In a notebook: the viewer, in a frame of its own."""
        try:
            page = self._file.report_html(10.0)
        except Error as error:
            return f"<pre>{_html.escape(repr(self))}\n{_html.escape(str(error))}</pre>"
        return (
            f'<iframe title="{_html.escape(self.model_name, quote=True)}" style="width:100%;height:640px;border:0" '
            f'sandbox="allow-scripts allow-downloads" srcdoc="{_html.escape(page, quote=True)}"></iframe>'
        )


def _plain(value):
    """NumPy's numbers and arrays in a dictionary."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a value of the model language")

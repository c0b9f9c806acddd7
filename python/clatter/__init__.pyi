import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Union

import numpy
from numpy.typing import NDArray

from ._clatter import Answer as Answer
from ._clatter import Event as Event
from ._clatter import Progress as Progress
from ._clatter import Quantity as Quantity
from ._clatter import Simulation as Simulation
from ._clatter import studies as studies
from .errors import Diagnostic as Diagnostic
from .errors import Error as Error
from .errors import InputError as InputError
from .errors import ResultError as ResultError
from .errors import SolveError as SolveError

_Array = NDArray[numpy.float64]
_Path = Union[str, "os.PathLike[str]"]

__version__: str

class Model:
    def __init__(
        self,
        model: Union[_Path, Mapping[str, Any]],
        *,
        parameters: Optional[Mapping[str, Union[str, float]]] = ...,
        method: Optional[str] = ...,
        coordinates: Optional[str] = ...,
        end: Optional[float] = ...,
        step: Optional[float] = ...,
        tolerance: Optional[float] = ...,
        name: str = ...,
    ) -> None: ...
    @classmethod
    def from_text(
        cls,
        text: str,
        *,
        parameters: Optional[Mapping[str, Union[str, float]]] = ...,
        method: Optional[str] = ...,
        coordinates: Optional[str] = ...,
        end: Optional[float] = ...,
        step: Optional[float] = ...,
        tolerance: Optional[float] = ...,
        name: str = ...,
    ) -> "Model": ...
    def simulation(self) -> Simulation: ...
    def run(
        self, result: Optional[_Path] = ..., progress: Optional[Callable[[Progress], Optional[bool]]] = ...
    ) -> "Result": ...
    def ask(self, study: str, progress: Optional[Callable[[Progress], Optional[bool]]] = ...) -> Answer: ...

class Result:
    def __init__(self, path: _Path) -> None: ...
    @property
    def path(self) -> str: ...
    @property
    def model_name(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def settings(self) -> Dict[str, str]: ...
    @property
    def events(self) -> List[Event]: ...
    @property
    def quantities(self) -> List[Quantity]: ...
    @property
    def time(self) -> _Array: ...
    @property
    def ledger(self) -> Dict[str, _Array]: ...
    def refresh(self) -> bool: ...
    def keys(self) -> List[str]: ...
    def __getitem__(self, quantity: str) -> _Array: ...
    def report(self, path: _Path, megabytes: float = ..., force: bool = ...) -> None: ...

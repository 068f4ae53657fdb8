from .notebook.results import Results as Results
from .notebook.results import load as load
from .notebook.running import compare as compare
from .notebook.running import run as run
from .notebook.study import Study as Study

__all__ = ["Results", "Study", "compare", "load", "run"]

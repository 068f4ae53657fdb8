"""Find learners by name: built-in ones, and those of installed packages (entry points) and plug-in files."""

import ast
import functools
import hashlib
import importlib.util
import inspect
import sys
import threading
import traceback
import warnings
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeAlias

from .guests.capymoa import leave_signals_to_python
from .guests.kinds import METHODS, WANTED, adapter_of, lacking
from .guests.returned import why_not_imported
from .guests.versions import imports_of, is_local, version_of
from .table import NAMES, ROWS

ENTRY_POINT_GROUP = "singlepass.learners"

# The class of a learner: it has the methods that an adapter in the folder guests/ needs, or, if it is a batch
# baseline, a method `fit`.
LearnerClass: TypeAlias = type[Any]

_plugins: dict[str, LearnerClass] = {}
# The content of each plug-in file when it was run, by the name of its module.
_sources: dict[str, bytes] = {}
# The local modules that each plug-in file imports, and their versions when it was run.
_imports: dict[str, tuple[list[str], str]] = {}
# The name of the module that `load_plugin` made of each plug-in file. The file may have been edited since.
_loaded: dict[Path, str] = {}
_loading = threading.Lock()


def _is_learner(candidate: object) -> bool:
    return inspect.isclass(candidate) and adapter_of(candidate) is not None


def _kind(learner: object) -> str | None:
    """Return the `kind` of a learner or learner class by the table of learners, None if it is not there."""
    cls = learner if inspect.isclass(learner) else type(learner)
    row = ROWS.get(cls.__name__)
    return row.kind if row is not None and row.load() is cls else None


def stored_name(name: str) -> str:
    """Return the learner's name in the keys of stored results, which stays the same if it is renamed."""
    return (ROWS[name].stored_as if name in ROWS else "") or name


def is_built_in(learner: object) -> bool:
    """Return whether a learner or learner class is one of this package or a batch baseline it offers."""
    return _kind(learner) is not None


def is_linear(learner: object) -> bool:
    """Return whether a learner or learner class is a linear one of this package."""
    return _kind(learner) == "linear"


def is_weighted(learner: object) -> bool:
    """Return whether a learner has weights: a linear one of this package, or a strategy that wraps one."""
    return is_linear(getattr(learner, "learner_", learner))


def is_batch(learner: object) -> bool:
    """Return whether a learner or learner class is a batch baseline, which predicts nothing along the stream.

    Examples
    --------
    >>> [name for name, learner in available().items() if is_batch(learner)]
    ['OfflineRampSVM', 'SVC']
    """
    return _kind(learner) == "batch"


def available() -> dict[str, LearnerClass]:
    """Return every learner that a study can name, sorted by name.

    These are the built-in learners, the batch baselines (`is_batch`), learners of installed packages (entry
    point group ``singlepass.learners``) and those of files given to `load_plugin`. An entry point is left out
    with a warning if its name is that of another learner, or if it cannot be imported or is not a learner.
    """
    # Every run of a study calls this function. Without plug-ins the learners need not be sorted again.
    return dict(sorted((_installed() | _plugins).items())) if _plugins else _installed().copy()


def built_in(name: str) -> LearnerClass | None:
    """Return the built-in learner of this name, or None; unlike `available`, import no other learner."""
    return ROWS[name].load() if name in NAMES else None


@functools.cache
def _installed() -> dict[str, LearnerClass]:
    """Return the built-in learners and those of installed packages, searched once per process."""
    found = {name: ROWS[name].load() for name in NAMES}
    owners = dict.fromkeys(found, "singlepass")
    for point in entry_points(group=ENTRY_POINT_GROUP):
        leave_signals_to_python()
        package = point.dist.name if point.dist else "unknown"
        try:
            learner = point.load()
        # A broken package must not stop the others from loading.
        except (Exception, SystemExit) as error:
            problem = f"it cannot be imported ({why_not_imported(error)})"
        else:
            if not _is_learner(learner):
                problem = f"a learner is a class with {WANTED}"
            elif found.get(point.name, learner) is not learner:
                owner = owners[point.name]
                problem = f"the name is taken by package {owner!r}; a study can name it {point.value!r}"
            else:
                found[point.name], owners[point.name] = learner, package
                continue
        warnings.warn(
            f"learner {point.name!r} ({point.value}) of package {package!r} is left out: {problem}",
            stacklevel=3,
        )
    return dict(sorted(found.items()))


def load_plugin(path: str | Path) -> dict[str, LearnerClass]:
    """Run a Python file (load only what you trust), register the learners that it defines and return them.

    A learner is a class defined in the file (not imported, no leading underscore) that has ``predict`` and
    ``partial_fit``, ``predict`` and ``learn``, or ``predict_one`` and ``learn_one``; see docs/own-learner.md.
    Loading the same unchanged file again returns the same classes. Raises FileNotFoundError, or ValueError
    if the file cannot be run, defines no learner, or uses a name that is taken, or if a file that it imports
    has changed since then; nothing is registered then.
    """
    path = Path(path).resolve()
    learners = learners_in(path)
    check_imports(next(iter(learners.values())), again=True)
    others = {name: learner for name, learner in available().items() if _source(learner) != str(path)}
    for name in learners:
        if name in others:
            raise ValueError(f"plugin file {path}: the learner name {name!r} is taken")
    _plugins.update(learners)
    _loaded[path] = next(iter(learners.values())).__module__
    return learners


def check_imports(learner: LearnerClass, *, again: bool = False) -> None:
    """Raise ValueError, with one line, if local modules that a plug-in's file imports have changed since.

    Files are read if a module was imported or reloaded since the last call, or `again`; see `version_of`.
    """
    modules, before = _imports.get(learner.__module__, ([], ""))
    problem = f"code that it imports has changed ({', '.join(modules)}): restart Python"
    try:
        # After a reload, classes of the file may still have values that it imported before.
        if version_of(modules, again=again) == before:
            return
    except ValueError as error:
        problem = str(error)
    raise ValueError(f"plugin file {_source(learner)}: {problem}")


def learners_in(path: str | Path) -> dict[str, LearnerClass]:
    """Run a Python file, unless the same content has been run, and return its learners; see `load_plugin`.

    The learners are not registered, because other threads may use another version of the file.
    """
    # The lock keeps other threads from using the file's module before its code has run completely.
    with _loading:
        return _learners_in(Path(path).resolve())


def left_out(path: str | Path) -> dict[str, str]:
    """Return, for classes of a loaded plug-in file with only some of a learner's methods, what they lack."""
    return {
        name: lacking(cls)
        for name, cls in _classes_in(_loaded[Path(path).resolve()]).items()
        if any(hasattr(cls, method) for method in METHODS) and not _is_learner(cls)
    }


def loaded_content(path: str | Path) -> bytes:
    """Return the content of a plug-in file that `load_plugin` ran; the file may be edited or removed now."""
    return _sources[_loaded[Path(path).resolve()]]


def content_of(learner: LearnerClass) -> str | None:
    """Return a hash (64 hex digits) of the code that a plug-in's learner uses, None for any other learner.

    The code consists of the learner's class, of the definitions in the file that the class uses, directly or
    indirectly, and of all statements that are not definitions, with the definitions that they use. Decorated
    definitions always count, because a decorator can register them where the class finds them without their
    name. If no statement of the file defines the class by its name, the code is the whole file. The versions
    of local modules that the file imports are added.
    """
    content = _sources.get(learner.__module__)
    if content is None:
        return None
    used, (modules, version) = _used_by(learner.__name__, content), _imports[learner.__module__]
    return hashlib.sha256((f"{used}\n{version}" if modules else used).encode()).hexdigest()


@functools.lru_cache(maxsize=128)
def _used_by(name: str, content: bytes) -> str:
    """Return the parts of a Python file that the definition of a name uses; see `content_of`."""
    source = importlib.util.decode_source(content)
    # The file's docstring and other constants at its top level are left out.
    statements = [
        each
        for each in ast.parse(source).body
        if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
    ]
    defines = [_defined_names(statement) for statement in statements]
    if not any(name in names for names in defines):
        return source
    used, waiting = set(), {name}
    for place, names in enumerate(defines):
        if not names or getattr(statements[place], "decorator_list", []):
            used.add(place)
            waiting |= _names_in(statements[place])
    while waiting:
        wanted = waiting.pop()
        for place, names in enumerate(defines):
            if wanted in names and place not in used:
                used.add(place)
                waiting |= _names_in(statements[place])
    return "\n".join(_text(statements[place], source) for place in sorted(used))


def _defined_names(statement: ast.stmt) -> set[str]:
    """Return the names that a definition, import or plain assignment defines; none for other statements."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {statement.name}
        case ast.Import() | ast.ImportFrom():
            return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names} - {"*"}
        case ast.Assign():
            targets = statement.targets
        case ast.AnnAssign():
            targets = [statement.target]
        case _:
            return set()
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    return names if len(names) == len(targets) else set()


def _names_in(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _text(statement: ast.stmt, source: str) -> str:
    """Return the lines of source code of a statement, including its decorators."""
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(each.lineno for each in decorators)])
    return "\n".join(source.split("\n")[first - 1 : statement.end_lineno])


def _learners_in(path: Path) -> dict[str, LearnerClass]:
    if not path.is_file():
        found = "is not a file: name one .py file" if path.exists() else "does not exist"
        raise FileNotFoundError(f"plugin file {path} {found}")
    # The module's name depends on the file's path and content, so an edited file gives another module. Within
    # this process, pickles of its classes can be loaded, because pickle finds the module by its name.
    content = path.read_bytes()
    module_name = _module_name(path, content)
    loaded = module_name in sys.modules
    if not loaded:
        _run(path, content, module_name)
        _sources[module_name] = content
    classes = _classes_in(module_name)
    learners = {name: value for name, value in classes.items() if _is_learner(value)}
    try:
        if not learners:
            raise ValueError(f"plugin file {path} defines no class with {WANTED}")
        for name in learners:
            if name in _installed():
                raise ValueError(f"plugin file {path}: the learner name {name!r} is taken")
        if not loaded:
            modules = sorted(filter(is_local, imports_of(content)))
            _imports[module_name] = modules, version_of(modules)
    except (OSError, ValueError):
        del sys.modules[module_name]
        raise
    return learners


def _module_name(path: Path, content: bytes) -> str:
    return "singlepass_plugin_" + hashlib.sha256(str(path).encode() + b"\0" + content).hexdigest()[:16]


def _classes_in(module_name: str) -> dict[str, type]:
    """Return the public classes that a plug-in file's module defines (not imports), by name."""
    return {
        name: value
        for name, value in vars(sys.modules[module_name]).items()
        if not name.startswith("_") and inspect.isclass(value) and value.__module__ == module_name
    }


def _run(path: Path, content: bytes, module_name: str) -> None:
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None:
        raise ValueError(f"plugin file {path} must be a Python file, its name ending in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    leave_signals_to_python()
    try:
        # The loader of `spec` may run a .pyc file of an earlier content with the same size and second.
        exec(compile(content, str(path), "exec", dont_inherit=True), vars(module))
    except BaseException as error:
        del sys.modules[module_name]
        if not isinstance(error, Exception | SystemExit):
            raise
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
        ]
        # A syntax error has no line here, but its message contains the line.
        where = f", line {lines[-1]}" if lines else ""
        raise ValueError(f"plugin file {path}{where}: {why_not_imported(error)}") from error


def _source(learner: LearnerClass) -> str | None:
    """Return the file of the module that defines a learner."""
    return getattr(sys.modules.get(learner.__module__), "__file__", None)

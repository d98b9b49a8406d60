"""Modules that register something when they are imported: those of a package, and files in folders that users name."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys
from functools import cache
from pathlib import Path

from ngramscope.errors import UsageError

__all__ = ["load_modules"]


def load_modules(package: str, variable: str) -> None:
    """Import every module of `package`, and every file ``*.py`` of the folders in the environment variable; once.

    Parameters
    ----------
    package
        Dotted name; its own modules come first.
    variable
        Name of the variable; folders are separated as in PATH.

    Raises
    ------
    UsageError
        A file cannot be imported.
    """
    _load(package, variable, os.environ.get(variable, ""))


@cache
def _load(package: str, variable: str, folders: str) -> None:
    home = importlib.import_module(package)
    for module in pkgutil.walk_packages(home.__path__, f"{package}."):
        importlib.import_module(module.name)
    for folder in filter(None, folders.split(os.pathsep)):
        for path in sorted(Path(folder).glob("*.py")):
            name = f"{variable.lower()}_{path.stem}"
            spec = importlib.util.spec_from_file_location(name, path)
            if spec is None or spec.loader is None:
                raise UsageError(f"{variable}: {path} cannot be imported")
            module_object = importlib.util.module_from_spec(spec)
            sys.modules[name] = module_object
            spec.loader.exec_module(module_object)

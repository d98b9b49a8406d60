from __future__ import annotations

import pickle
import re

from ngramscope import errors


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = set(re.findall(r"[A-Z]\w+Error", (errors.__doc__ or "").partition("The compiled core")[0])) - {
        "ValueError",
        "OSError",
    }
    assert drawn == set(errors.__all__)
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.NgramscopeError)


def test_a_missing_extra_is_one_line_with_the_command_and_survives_pickling() -> None:
    error = errors.MissingExtraError("matplotlib", "plot", "--plot")
    assert str(error) == "--plot needs matplotlib, which is not installed: pip install 'ngramscope[plot]'"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.extra) == (str(error), "plot")

"""The explorer of single documents."""

from __future__ import annotations

from ngramscope.report.explorer import explorer
from ngramscope.report.parts import Section
from ngramscope.report.registry import section
from ngramscope.report.view import View

__all__ = ["documents"]


@section("documents", "Documents", place=900)
def documents(view: View) -> Section:
    """Each document's scores and overlap, its text with what the corpus has of it, and the tokens that surprise the model."""
    html = explorer(view)
    if not html:
        return Section(missing="There is no score table, so there are no documents to look at.")
    lead = ["Choose a document to read it. A score of one document proves nothing of that document."]
    if not view.characters or view.results.candidates is None:
        lead.append("The texts are not part of this page.")
    elif view.results.spans is None:
        lead.append("Which parts of the texts the corpus has was not kept, so nothing is marked in them.")
    return Section(lead, html=html)

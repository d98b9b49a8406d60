"""Dated documents from public services, as JSON Lines that every command reads: raw material of temporal sets.

One file a service. Each lists what there may be, asks for it slowly and in series, and keeps every answer on disk, so that a
run that was stopped goes on where it was.
"""

from __future__ import annotations

from ngramscope.corpus.services.arxiv import ArxivQuery, fetch_arxiv
from ngramscope.corpus.services.client import ClientOptions
from ngramscope.corpus.services.wikipedia import WikipediaQuery, fetch_wikipedia

__all__ = ["ArxivQuery", "ClientOptions", "WikipediaQuery", "fetch_arxiv", "fetch_wikipedia"]

"""Blind baselines: what can be told of members and non-members without any model. See docs/blind.md.

One file each, found by scanning this package; `NGRAMSCOPE_BLIND` names folders with further ones.
"""

"""Membership inference attacks: pure functions of the score store, one file each; higher means more likely a member.

A module of this package, or of the folders in ``NGRAMSCOPE_ATTACKS``, that registers an attack is found by itself.
See docs/attacks.md.
"""

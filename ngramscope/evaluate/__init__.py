"""Honest inference: what scores of attacks show, with intervals, and what they could not have shown.

`run.evaluate` makes a report of a score table. The statistics are plain functions of arrays, one matter a file.
"""

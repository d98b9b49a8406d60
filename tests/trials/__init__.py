"""Odd inputs that users of such tools reported, with the numbers that a right answer has.

The files and their expected values come from the shared data; the names of the tests are those of the trials there (A01, ...).
"""

"""``python -m ngramscope``."""

from ngramscope.cli import main

if __name__ == "__main__":
    main()

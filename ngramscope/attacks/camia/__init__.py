"""CAMIA: context-aware membership inference.

Chang et al., Context-Aware Membership Inference Attacks against Pre-trained Large Language Models (arXiv 2409.13745). The
signals are pure functions of one text's log-probabilities (`signals`, `entropy`, `lempel_ziv`), their list and directions are
in `features`, and what makes one score of them in `compose` and `learned`. See docs/camia.md.
"""

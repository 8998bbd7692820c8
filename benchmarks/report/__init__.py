"""Reports of benchmark results: an HTML page, Markdown with figures, and the tables of the documentation.

``data`` arranges records, ``sections`` computes from them, ``blocks`` are the parts of a report (text,
tables, figures) and write themselves as HTML and Markdown. See ``python -m benchmarks.report --help``.
"""

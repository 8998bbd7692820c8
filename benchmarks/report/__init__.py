"""Reports of benchmark results: an HTML page, Markdown with figures, and the tables of the documentation.

``data`` arranges records, ``sections`` computes from them, ``blocks`` are what a report is made of (text,
tables, figures), ``page`` and ``markdown`` write them down. ``python -m benchmarks.report --help``.
"""

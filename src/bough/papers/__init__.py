"""Methods from the literature, one package per paper.

Each package holds the kernels, surrogates, acquisition functions and methods of one paper. It starts with a
table: equation or algorithm, function, what differs. The packages import public parts of ``space``, ``gp``,
``surrogates``, ``acquisition`` and ``strategies``. Nothing imports them; the registry loads them by name.
"""

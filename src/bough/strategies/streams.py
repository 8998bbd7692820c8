"""The random streams of a study, apart from those of its trials.

A trial's proposal uses the generator of [seed, number of the trial]. Draws that must not depend on how many
numbers this generator has drawn use one of [seed, stream] or [seed, number, stream], with a stream from this
file. Streams are larger than any trial number. Stored studies depend on these numbers: never change one. Two
streams may share a number if their keys differ in length, or if no study uses both.
"""

from __future__ import annotations

DESIGN = 2**31  # [seed]: the initial design
FIRST_LOOK = 2**31  # [seed, trials so far]: options that no trial has taken
FILL = 2**31 + 1  # [seed, number]: inactive values of flattening methods
FIT = 2**31 + 2  # [seed, results]: starts of the fit of a model
SEQUENCE = 2**31 + 3  # [seed]: the shift of a quasi-random design
OUTLOOK = 2**31 + 3  # [seed, number]: candidates of the outlook of branches
BELIEVED_DESIGN = 2**31 + 4  # [seed]: the initial design drawn from beliefs
CMA_GENERATIONS = 2**31 + 4  # [seed]: the draws of CMA-ES
SWARM = 2**31 + 5  # [seed]: the moves of a particle swarm
BELIEF_TEST = 2**31 + 5  # [seed, number]: the test that drops a wrong belief
SOURCE_WEIGHTS = 2**31 + 6  # [seed, results]: weights of earlier studies
ANCHORS = 2**31 + 6  # [seed]: the anchors of the semi-parametric tree
REMAINING_GAIN = 2**31 + 7  # [seed, results]: candidates for what is left to gain
SOURCE_FILL = 2**31 + 7  # [position of the study]: parameters that an earlier study lacks
INSTANCE_ORDER = 2**31 + 11  # [seed]: the order in which a race visits its instances

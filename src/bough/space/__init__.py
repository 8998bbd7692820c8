"""Search spaces: declared as parameters, choices and conditions; other layers see encoded points."""

from bough.space.choice import Choice
from bough.space.parameters import Categorical, Float, Int
from bough.space.relations import Mixture
from bough.space.space import Space

__all__ = ["Categorical", "Choice", "Float", "Int", "Mixture", "Space"]

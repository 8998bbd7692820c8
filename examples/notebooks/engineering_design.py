# %% [markdown]
# # A design with two objectives and a limit
#
# A cantilever beam of one metre carries 2 kN at its end. It should be light and stiff, and the stress must stay below
# what the material bears. Which cross-section, which material, which dimensions? Every section has other dimensions, so
# the space branches. There is no single best beam but a *front*: the lightest for every stiffness.
# This notebook needs `pip install 'bough-opt[plot]'`.

# %%
from math import pi

import bough

LENGTH, FORCE = 1.0, 2000.0
MATERIALS = {  # Young's modulus in Pa, density in kg/m3, stress that it bears in Pa
    "steel": (210e9, 7850, 235e6),
    "aluminium": (70e9, 2700, 160e6),
    "spruce": (11e9, 450, 24e6),
}


def beam(config: dict) -> dict[str, float]:
    """Mass in kg, stiffness at the end in N/mm, and the share of the bearable stress."""
    modulus, density, strength = MATERIALS[config["material"]]
    section, height = config["section"], config["height"] / 1000
    if section == "round":
        area, inertia = pi * height**2 / 4, pi * height**4 / 64
    elif section == "tube":
        inner = height * (1 - 2 * config["wall"])
        area, inertia = pi * (height**2 - inner**2) / 4, pi * (height**4 - inner**4) / 64
    elif section == "box":
        width, wall = height * config["slim"], config["wall"]
        inner, hollow = height * (1 - 2 * wall), width * (1 - 2 * wall)
        area, inertia = width * height - hollow * inner, (width * height**3 - hollow * inner**3) / 12
    else:
        width, web, flange = height * config["slim"], config["web"], height * config["flange"]
        inner, hollow = height - 2 * flange, width * (1 - web)
        area, inertia = width * height - hollow * inner, (width * height**3 - hollow * inner**3) / 12
    return {
        "mass": area * LENGTH * density,
        "stiffness": 3 * modulus * inertia / LENGTH**3 / 1000,
        "stress": FORCE * LENGTH * (height / 2) / inertia / strength,
    }


# %%
space = bough.Space(
    {
        "material": bough.Categorical(["steel", "aluminium", "spruce"]),
        "height": bough.Float(20, 150),
        "section": bough.Choice(
            {
                "round": {},
                "tube": {"wall": bough.Float(0.03, 0.4)},
                "box": {"wall": bough.Float(0.03, 0.4), "slim": bough.Float(0.3, 1)},
                "I": {
                    "slim": bough.Float(0.3, 1),
                    "web": bough.Float(0.05, 0.5),
                    "flange": bough.Float(0.03, 0.3),
                },
            }
        ),
    }
)
space

# %% [markdown]
# ## Search the front
#
# A beam heavier than 20 kg is not worth having, however stiff: that is what `reference` says.

# %%
study = bough.optimize(
    beam,
    space,
    trials=60,
    seed=0,
    objectives={"mass": "minimize", "stiffness": "maximize"},
    constraints=["stress <= 1"],
    reference={"mass": 20, "stiffness": 0},
)
print(f"{len(study.front)} beams on the front, hypervolume {study.hypervolume():.0f}")
study

# %%
bough.plot.front(study)

# %% [markdown]
# ## Choose
#
# Say what you need, and take the lightest beam that does it.

# %%
for needed in (100, 300, 1000, 3000):
    stiff = [trial for trial in study.front if trial.measures["stiffness"] >= needed]
    if stiff:
        lightest = min(stiff, key=lambda trial: trial.measures["mass"])
        config = lightest.config
        print(
            f"at least {needed:4} N/mm: {lightest.measures['mass']:5.2f} kg, "
            f"{config['material']} {config['section']}, {config['height']:.0f} mm high"
        )

# %% [markdown]
# ## Was it worth it?
#
# The same number of random beams, measured from the same reference:

# %%
random = bough.optimize(
    beam,
    space,
    trials=60,
    seed=0,
    method="random",
    objectives={"mass": "minimize", "stiffness": "maximize"},
    constraints=["stress <= 1"],
    reference={"mass": 20, "stiffness": 0},
    progress=False,
)
print(f"hypervolume {study.hypervolume():.0f}, of random beams {random.hypervolume():.0f}")
bough.plot.hypervolume(study)

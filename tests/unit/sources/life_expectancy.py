"""Life expectancy from probabilities of death, and as published beside these."""

PUBLISHED_AT_BIRTH = {"male": 74.74, "female": 80.18}
"""Years, United States, period life table 2022."""


def life_expectancy(probabilities: tuple[float, ...]) -> float:
    """Expected years at birth, deaths falling in the middle of a year."""
    alive, years = 1.0, 0.0
    for probability in probabilities:
        years += alive * (1 - probability) + alive * probability / 2
        alive *= 1 - probability
    return years

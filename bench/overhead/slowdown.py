"""Median slowdown of paired windows and its 95 % interval."""

import random
import statistics


def slowdowns(pairs):
    """Each pair's own: time with the tool ÷ time without, less one."""
    return [on / off - 1 for off, on in pairs]


def median_and_interval(values, rounds=10000, seed=1):
    """Median and its 95 % bootstrap interval (percentile method, B. Efron 1979)."""
    if not values:
        return None
    generator = random.Random(seed)
    medians = sorted(statistics.median(generator.choices(values, k=len(values)))
                     for _ in range(rounds))
    return (statistics.median(values), medians[round(0.025 * (rounds - 1))],
            medians[round(0.975 * (rounds - 1))])

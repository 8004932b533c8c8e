"""Predicted power, compared with the proportion of whole simulated studies in which ``compare`` rejects.

python -m benchmarks.bench_power
"""

import time

from tests.unit.report.full_studies import SETTINGS, rejections

from confidence_tasks.decisions.power import power_curve

PREDICTED_STUDIES = 4_000


def main() -> None:
    """Print a row of the table for each setting."""
    for setting in SETTINGS:
        start = time.process_time()
        curve = power_curve(
            setting.study, setting.measure, setting.effect, n=[setting.n], n_studies=PREDICTED_STUDIES
        )
        predicted = time.process_time()
        rejected = rejections(setting, curve.pair, range(setting.studies))
        power, share = float(curve.power[0]), rejected / setting.studies
        print(
            f"| {setting.study} {setting.measure} {setting.effect:+g} | {setting.n} | {power:.3f} | {share:.3f} "
            f"({rejected} of {setting.studies}) | {100 * (power - share):+.1f} | {predicted - start:.0f} "
            f"| {time.process_time() - predicted:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

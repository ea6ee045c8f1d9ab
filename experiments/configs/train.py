"""Presets of `experiments/train.py`: `--config=experiments/configs/train.py:NAME`."""

import dataclasses
import sys

from ml_collections import ConfigDict

from ecord_jax.graphs.generators import GraphDistribution
from ecord_jax.learning.config import TrainConfig
from ecord_jax.networks.config import EcordConfig

PRESETS = {
    # The paper's agents of its Table 1 and of the supplement's Table 4.
    "er40": TrainConfig(),
    "ba40": TrainConfig(graphs=GraphDistribution("ba", 40)),
    # The paper's agent of its Table 2: binary weights, 500 vertices. Long on a CPU.
    "er500": TrainConfig(graphs=GraphDistribution("er", 500, signs="positive")),
    # For any graph: sizes and densities vary, values do not shrink with |V|.
    "mixture": TrainConfig(
        network=EcordConfig(
            scaling="scale_free", rnn="none", value_width=64, temperatures=(0.002, 0.02)
        ),
        graphs=GraphDistribution("mixture", 200, signs="either"),
        num_updates=2500,
        bptt=0,
        n_step=5,
        continued=0.85,
        discount=0.95,
        size_baseline=True,
        final_learning_rate=1e-5,
        averaged=True,
        validate_every=250,
        validation_trajectories=4,
        validation_factor=8,
    ),
    # Seconds, for tests.
    "smoke": TrainConfig(
        network=EcordConfig(hidden=16, value_width=8),
        graphs=GraphDistribution("er", 12, edge_probability=0.4),
        num_updates=40,
        num_graphs=4,
        batch_size=8,
        buffer_size=256,
        bptt=3,
        validate_every=20,
        validation_graphs=4,
        validation_trajectories=4,
    ),
}


def get_config(name: str = "er40") -> ConfigDict:
    """The preset's fields, each of which can be overridden on the command line."""
    if name not in PRESETS:
        # An exception would be wrapped in its traceback by ml_collections.
        print(f"no preset {name!r}: there are {', '.join(sorted(PRESETS))}", file=sys.stderr)
        raise SystemExit(2)
    return ConfigDict(dataclasses.asdict(PRESETS[name]))

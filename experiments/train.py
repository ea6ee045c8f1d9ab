"""Trains an agent.

    python experiments/train.py --config=experiments/configs/train.py:er40 --out=runs/er40
    python experiments/train.py --config=experiments/configs/train.py:er40 --out=runs/er40 --resume

Any field of the preset can be set, for instance `--config.discount=0.9`. See
`ecord_jax.learning.trainer.train` for what is written to the folder.
"""

import shlex
import sys
from pathlib import Path

from absl import flags
from ml_collections import config_flags

from ecord_jax.cli.common import positionals, run
from ecord_jax.errors import OptionError
from ecord_jax.learning.config import TrainConfig
from ecord_jax.learning.trainer import train

_CONFIG = config_flags.DEFINE_config_file(
    "config", str(Path(__file__).parent / "configs" / "train.py"), "Preset file and name."
)
_OUT = flags.DEFINE_string("out", None, "Folder of the run.")
_RESUME = flags.DEFINE_bool("resume", False, "Go on from the folder's newest checkpoint.")
_CHECKPOINT_EVERY = flags.DEFINE_integer(
    "checkpoint_every", 500, "Updates between checkpoints.", lower_bound=1
)


def main(argv: list[str]) -> int:
    """Runs the training that the flags describe."""
    positionals(argv)
    if not _OUT.value:
        raise OptionError("flag --out is needed: the folder of the run")
    # A resumed run ends as one without interruption: what is told is how to get there.
    arguments = [argument for argument in sys.argv[1:] if argument.strip("-") != "resume"]
    command = shlex.join(["python", "experiments/train.py", *arguments])
    train(
        TrainConfig.from_dict(_CONFIG.value.to_dict()),
        Path(_OUT.value),
        resume=_RESUME.value,
        checkpoint_every=_CHECKPOINT_EVERY.value,
        show_progress=True,
        command=command,
    )
    print(f"agent, card, metrics and learning curve: {_OUT.value}")
    return 0


if __name__ == "__main__":
    run(main)

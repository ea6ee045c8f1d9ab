"""Makes the validation and test sets of the paper anew, with the same graphs at each run.

    python experiments/make_data.py --out=data
    python experiments/make_data.py --out=data --sets=ER40_test,BA40_test
    python experiments/evaluate.py --agent=er40 --sets=data/ER40_test.npz,data/BA40_test.npz

ER40 to ER500 and BA40 to BA500 are the paper's distributions (p = 0.15 or 4 attachments, weights of
-1 and 1): 50 graphs of each for validation and 100 for test. ER800 to ER10000 have the size and
density of the GSet's random graphs and weights of 1: 10 graphs for validation; the GSet is their
test. The graphs are others than the paper's, of the same distributions. Not the paper's are ER20
and BA20, which are quick; TORUS2000 to TORUS20000, two square lattices of weights -1 and 1 each,
and PLANTED2000 to PLANTED20000, the same with known largest cuts; and a graph of each of KINDS.

A set is NAME.npz as `experiments/evaluate.py` reads it, and NAME.json beside it, which says how
each of its graphs was made. `opt`, the best known cuts, is there where all of them are proven to be
largest (by elimination of vertices; sizes 20 and 40, and BA60; or planted). The other sets have
none.
"""

import dataclasses
import hashlib
import json
import platform
import shlex
import zlib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from absl import flags
from tqdm import tqdm

import ecord_jax
from ecord_jax.cli.common import positionals, run
from ecord_jax.cli.output import check_writable, write_whole
from ecord_jax.errors import OptionError
from ecord_jax.graphs import Graph, models, planted
from ecord_jax.graphs.exact import largest_cut
from ecord_jax.graphs.fingerprint import fingerprint
from ecord_jax.graphs.planted import Planted

_FLAGS = flags.FlagValues()
_OUT = flags.DEFINE_string("out", None, "Folder; made where it is missing.", flag_values=_FLAGS)
_SETS = flags.DEFINE_list("sets", None, "Names of sets; all by default.", flag_values=_FLAGS)
_SEED = flags.DEFINE_integer(
    "seed", 0, "Of all graphs; another one gives fresh sets.", lower_bound=0, flag_values=_FLAGS
)

# Sizes up to which largest cuts are looked for; proofs of ER60 would take tables of gigabytes.
_PROVEN = {"ER": 40, "BA": 60}


@dataclasses.dataclass(frozen=True)
class SetSpec:
    """A set of graphs of one distribution.

    Attributes:
        model: a function of `ecord_jax.graphs.models` or `planted`.
        parameters: what it is called with beside the seed.
        graphs: how many.
        proven: whether the largest cuts are to be found.
    """

    model: str
    parameters: dict[str, Any]
    graphs: int
    proven: bool = False


# What solvers are compared on at equal seconds, beside the GSet.
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "random": ("erdos_renyi", {"num_vertices": 4000, "edge_probability": 1.5e-3}),
    "barabasi": (
        "barabasi_albert",
        {"num_vertices": 3000, "attachments": 4, "weights": "signed"},
    ),
    "regular": ("random_regular", {"num_vertices": 3000, "degree": 5}),
    "square": ("torus", {"shape": (70, 80)}),
    "cubic": ("torus", {"shape": (15, 15, 15)}),
    "planar": ("planar_union", {"num_vertices": 3000}),
    "gaussian": (
        "erdos_renyi",
        {"num_vertices": 2000, "edge_probability": 5e-3, "weights": "gaussian"},
    ),
    "dense": ("erdos_renyi", {"num_vertices": 2000, "edge_probability": 0.015}),
    "crowded": (
        "erdos_renyi",
        {"num_vertices": 1500, "edge_probability": 0.3, "weights": "signed"},
    ),
    "complete": ("sherrington_kirkpatrick", {"num_vertices": 1000, "weights": "signed"}),
    "powerlaw": ("power_law", {"num_vertices": 5000, "mean_degree": 6.0}),
}


def _all_sets() -> dict[str, SetSpec]:
    sets = {}
    for n in (20, 40, 60, 100, 200, 500):
        for name, model, parameters in (
            ("ER", "erdos_renyi", {"edge_probability": 0.15}),
            ("BA", "barabasi_albert", {"attachments": 4}),
        ):
            values = {"num_vertices": n, **parameters, "weights": "signed"}
            for split, graphs in (("validation", 50), ("test", 100)):
                spec = SetSpec(model, values, graphs, proven=n <= _PROVEN[name])
                sets[f"{name}{n}_{split}"] = spec
    # The densities of G1, G43, G22, G55, G60 and G70.
    for n, p in (
        (800, 0.06),
        (1000, 0.02),
        (2000, 0.01),
        (5000, 1e-3),
        (7000, 7e-4),
        (10000, 2e-4),
    ):
        values = {"num_vertices": n, "edge_probability": p, "weights": "unit"}
        sets[f"ER{n}_validation"] = SetSpec("erdos_renyi", values, 10)
    for rows, columns in ((40, 50), (50, 100), (80, 100), (100, 140), (100, 200)):
        n = rows * columns
        sets[f"TORUS{n}_test"] = SetSpec("torus", {"shape": (rows, columns)}, 2)
        values = {"rows": rows, "columns": columns}
        sets[f"PLANTED{n}_test"] = SetSpec("planted_torus", values, 1)
    for name, (model, values) in KINDS.items():
        sets[f"{name}_test"] = SetSpec(model, values, 1)
    return sets


SETS = _all_sets()


def graph_seeds(name: str, count: int, seed: int) -> list[int]:
    """Seeds of a set's graphs, which depend on nothing but these arguments."""
    sequence = np.random.SeedSequence([seed, zlib.crc32(name.encode())])
    return sequence.generate_state(count, np.uint64).tolist()


def make_graphs(spec: SetSpec, seeds: Sequence[int]) -> list[Graph]:
    """The graphs of a set, one a seed."""
    return [one.graph if isinstance(one, Planted) else one for one in _make(spec, seeds)]


def _make(spec: SetSpec, seeds: Sequence[int]) -> list[Graph | Planted]:
    model = getattr(_module(spec), spec.model)
    return [model(**spec.parameters, seed=seed) for seed in seeds]


def _module(spec: SetSpec) -> ModuleType:
    return models if hasattr(models, spec.model) else planted


def largest_cuts(spec: SetSpec, seeds: Sequence[int]) -> tuple[list[float], str] | None:
    """The largest cuts of a set and what proves them; None where they are not known."""
    made = _make(spec, seeds)
    planted_cuts = [float(one.cut) for one in made if isinstance(one, Planted)]
    if planted_cuts:
        return planted_cuts, "planted"
    graphs = [one for one in made if isinstance(one, Graph)] if spec.proven else []
    cuts = [float(cut) for graph in graphs if (cut := largest_cut(graph)) is not None]
    return (cuts, "elimination of vertices") if len(cuts) == len(made) else None


def set_arrays(
    graphs: Sequence[Graph], known: tuple[Sequence[float], str] | None
) -> dict[str, Any]:
    """The arrays of an npz file: those that `read_set` reads, and `opt_source`."""
    weights = np.concatenate([graph.weights for graph in graphs])
    arrays: dict[str, Any] = {
        "n": np.array([graph.num_vertices for graph in graphs], np.int32),
        "offsets": np.cumsum([0, *(graph.num_edges for graph in graphs)], dtype=np.int64),
        "edges": np.concatenate([graph.edges for graph in graphs]).astype(np.int32),
        "weights": weights if weights.dtype.kind == "f" else weights.astype(np.int8),
    }
    if known is not None:
        cuts, proof = known
        arrays["opt"] = np.array(cuts, np.float64)
        arrays["opt_source"] = np.array(f"proven: {proof}")
    return arrays


def manifest(name: str, spec: SetSpec, seeds: Sequence[int], graphs: Sequence[Graph]) -> dict:
    """How a set was made; nothing in it but `versions` differs between machines."""
    hashes = [fingerprint(graph) for graph in graphs]
    return {
        "set": name,
        "model": f"{_module(spec).__name__}.{spec.model}",
        "parameters": spec.parameters,
        "graphs": len(graphs),
        "seeds": list(seeds),
        # SHA-256 of the graphs' fingerprints, one a line.
        "fingerprint": hashlib.sha256("".join(f"{h}\n" for h in hashes).encode()).hexdigest(),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "ecord-jax": ecord_jax.__version__,
        },
    }


def write_set(folder: Path, name: str, seed: int) -> bool:
    """Makes a set and writes its two files.

    Returns:
        Whether it has best known cuts.
    """
    spec = SETS[name]
    seeds = graph_seeds(name, spec.graphs, seed)
    graphs = make_graphs(spec, seeds)
    arrays = set_arrays(graphs, largest_cuts(spec, seeds))
    described = manifest(name, spec, seeds, graphs)
    described["command"] = shlex.join(
        ["python", "experiments/make_data.py", f"--sets={name}", f"--seed={seed}", "--out=FOLDER"]
    )
    described["opt"] = str(arrays.get("opt_source", "none"))
    write_whole(str(folder / f"{name}.npz"), lambda path: np.savez_compressed(path, **arrays))
    text = json.dumps(described, indent=1) + "\n"
    write_whole(str(folder / f"{name}.json"), lambda path: Path(path).write_text(text))
    return "opt" in arrays


def main(argv: Sequence[str]) -> int:
    """Writes the sets that the flags ask for."""
    positionals(argv)
    if not _OUT.value:
        raise OptionError("flag --out is needed: the folder to write to")
    names = list(SETS) if _SETS.value is None else _SETS.value
    for name in names:
        if name not in SETS:
            raise OptionError(f"flag --sets: no set {name!r}; there are {', '.join(SETS)}")
    folder = Path(_OUT.value)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        check_writable("out", str(folder / f"{name}.npz"))
    for name in tqdm(names, leave=False, disable=None):
        known = write_set(folder, name, _SEED.value)
        cuts = "best known cuts proven" if known else "no best known cuts"
        print(f"{folder / name}.npz: {SETS[name].graphs} graphs, {cuts}", flush=True)
    return 0


if __name__ == "__main__":
    run(main, _FLAGS)

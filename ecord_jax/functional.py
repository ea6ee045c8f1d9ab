"""All pure functions of the package, for research: they compose under `jit`, `vmap` and `grad`.

Network functions take an `Agent` first; environment functions take `scaling` as a keyword.
Randomness comes from the keys that are passed. Those of learning need the extra `experiments` and
are in `ecord_jax.learning`: `update`, `loss`, `replay`.
"""

from ecord_jax.env import (
    Observation,
    State,
    observe,
    observe_global,
    observe_vertices,
    reset,
    step,
    step_and_look,
)
from ecord_jax.graphs.arrays import GraphArrays, to_arrays, to_batch
from ecord_jax.graphs.generators import GraphDistribution, sample_graph
from ecord_jax.networks.agent import (
    Agent,
    encode,
    factor,
    init_agent,
    initial_hidden,
    q_values,
    remember,
)
from ecord_jax.networks.config import EcordConfig
from ecord_jax.networks.softmax import SoftmaxConfig
from ecord_jax.networks.swift import (
    Globals,
    SwiftConfig,
    SwiftTables,
    swift_globals,
    swift_scores,
    swift_tables,
    time_edges,
    time_places,
    vertex_features,
)
from ecord_jax.networks.traits import graph_params, graph_traits
from ecord_jax.search.chunk import Found, Search, Trajectory, search_chunk, start_search
from ecord_jax.search.rollout import Carry, Record, flipped_labels, rollout
from ecord_jax.search.sampling import sample_softmax

__all__ = [
    "Agent",
    "Carry",
    "EcordConfig",
    "Found",
    "Globals",
    "GraphArrays",
    "GraphDistribution",
    "Observation",
    "Record",
    "Search",
    "SoftmaxConfig",
    "State",
    "SwiftConfig",
    "SwiftTables",
    "Trajectory",
    "encode",
    "factor",
    "flipped_labels",
    "graph_params",
    "graph_traits",
    "init_agent",
    "initial_hidden",
    "observe",
    "observe_global",
    "observe_vertices",
    "q_values",
    "remember",
    "reset",
    "rollout",
    "sample_graph",
    "sample_softmax",
    "search_chunk",
    "start_search",
    "step",
    "step_and_look",
    "swift_globals",
    "swift_scores",
    "swift_tables",
    "time_edges",
    "time_places",
    "to_arrays",
    "to_batch",
    "vertex_features",
]

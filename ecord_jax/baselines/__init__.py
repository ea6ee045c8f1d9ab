"""Solvers to be compared with: the paper's, and those it leaves out. One module each.

Each is a function `(graph, *, key, trajectories, time_limit, num_steps, ...) -> SolveResult`, as
`ecord_jax.solve` is.
"""

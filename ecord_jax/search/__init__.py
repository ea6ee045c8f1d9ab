"""Search: the rollout, and the solver around it."""

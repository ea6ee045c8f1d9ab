"""The agent: a jraph encoder, a Flax recurrent Q-network, and what they have in common."""

"""Munchausen-DQN with truncated backpropagation through time (needs the extra `experiments`)."""

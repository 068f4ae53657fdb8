"""Parts that several linear learners share: covariances, losses, scaled weights, state of many classes."""

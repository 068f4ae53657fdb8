"""Parts that several linear learners share: covariances, steps, the state of many classes."""

"""What several linear learners are made of: covariances, steps, states of many classes."""

"""Support sets: their rows, their coefficients, and kernel values between them."""

"""How good is a policy, exactly."""

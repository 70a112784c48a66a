"""A million requests of two processes, and no number twice."""
import test_tracing


class Million(test_tracing.Unique):
    count = 1000000


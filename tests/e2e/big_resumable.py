"""Uploads that are broken many times."""
from test_resumable import Kills


class ManyKills(Kills):
    CLIENTS, SERVERS, SIZE = 1000, 200, 16 << 20


# The small copy runs with the other tests.
del Kills

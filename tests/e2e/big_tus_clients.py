"""Clients of tus over a network that breaks twenty times."""
# needs: chromium npm
from test_tus_clients import Browser


class ManyCuts(Browser):
    CUTS, SIZE = 20, 24 << 20


# The small copy runs with the other tests.
del Browser

"""Tokens for tests: signed with a secret by Python itself, as odd as is wanted."""
import base64
import hashlib
import hmac
import json
import time

SECRET = b'0123456789abcdef0123456789abcdef'
HASHES = {'HS256': hashlib.sha256, 'HS384': hashlib.sha384, 'HS512': hashlib.sha512}


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b'=').decode()


def signed(claims=None, secret=SECRET, header=None, **more):
    """A token; without claims it is good for a minute."""
    header = {'alg': 'HS256', 'typ': 'JWT', **(header or {})}
    if claims is None:
        claims = {'exp': int(time.time()) + 60}
    claims = json.dumps({**claims, **more}).encode()
    text = f'{encode(json.dumps(header).encode())}.{encode(claims)}'
    mac = hmac.new(secret, text.encode(), HASHES.get(header['alg'], hashlib.sha256))
    return f'{text}.{encode(mac.digest())}'

"""Frames of HTTP/2 (RFC 9113), which may be malformed."""
import struct

PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
PRIORITY_UPDATE = 16
END_STREAM, ACK, END_HEADERS = 1, 1, 4
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, STREAM_CLOSED, FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL = 0, 1, 2, 3, 5, 6, 7, 8
COMPRESSION_ERROR, ENHANCE_YOUR_CALM = 9, 11


def frame(kind, flags=0, stream=0, payload=b''):
    return struct.pack('>I', len(payload))[1:] + bytes((kind, flags)) + struct.pack('>I', stream) + payload


def setting(*pairs):
    return frame(SETTINGS, 0, 0, b''.join(struct.pack('>HI', *pair) for pair in pairs))


def window(stream, size):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack('>I', size))


def reset(stream, code=CANCEL):
    return frame(RST_STREAM, 0, stream, struct.pack('>I', code))


def block(*fields):
    """Fields as literals without indexing (RFC 7541), each below 127 bytes."""
    return b''.join(b'\0' + b''.join(bytes((len(text),)) + text.encode() for text in field) for field in fields)

"""Holds the public interface against its users, and prints TAP.

    interface.py ROOT            every public function has a user, and there are no more than MOST of them
    interface.py ROOT --count    the number of public functions of each layer

A public function is declared with EDDY_API in LAYER/include/eddy/*.h and begins with eddy_. A user is a source below examples/, bench/ or
docs/ (C blocks and inline code), or a source or a header of another layer, or a macro of a public header.
"""
import glob
import os
import re
import sys

from tap import Tap

LAYERS = ('runtime', 'http', 'compress', 'trace', 'auth')
MOST = 451
# Without a caller here, and why they are public all the same.
KEPT = {
    'eddy_codec_decode': 'the other direction of eddy_codec_encode()',
    'eddy_decoder_new': 'the other direction of eddy_encoder_new()',
    'eddy_decoder_free': 'the other direction of eddy_encoder_free()',
    'eddy_decoder_step': 'the other direction of eddy_encoder_step()',
    'eddy_log_writer_unsubscribe': 'ends eddy_log_writer_subscribe()',
    'eddy_log_writer_flush': 'before a program ends by _exit()',
    'eddy_span_set_name': 'for names that are known late, such as a message queue',
    'eddy_span_unsubscribe': 'ends eddy_span_subscribe()',
    'eddy_trace_context_parse': 'propagation without http',
    'eddy_trace_context_format': 'propagation without http',
    'eddy_request_id': 'the id of a request, for messages of the program',
    'eddy_request_trace': 'the trace context of a request, for messages of the program',
    'eddy_jws_alg_name': 'for messages of programs of eddy-jwt',
    'eddy_jwk_parse': 'eddy-jwt without http: a key from text',
    'eddy_jwk_ref': 'pairs with eddy_jwk_unref()',
    'eddy_jwt_ref': 'pairs with eddy_jwt_unref()',
    'eddy_jwt_has': 'a claim of any type',
    'eddy_keyset_parse': 'eddy-jwt without http: a key set from text',
    'eddy_keyset_ref': 'pairs with eddy_keyset_unref()',
    'eddy_keyset_count': 'for eddy_keyset_at()',
    'eddy_rule_check': 'eddy-jwt without http: a rule against a token',
}
DECLARED = re.compile(r'EDDY(?:_\w+)?_API\b[^;{]*?\b(eddy_\w+)\s*\(')


def bare(text):
    """The text without comments."""
    return re.sub(r'/\*.*?\*/', '', text, flags=re.S)


def read(path):
    with open(path, errors='replace') as file:
        return file.read()


def declared(root, layer):
    """Each public function of a layer, and its header."""
    found = {}
    for path in sorted(glob.glob(os.path.join(root, layer, 'include', 'eddy', '*.h'))):
        for name in DECLARED.findall(bare(read(path))):
            found.setdefault(name, os.path.relpath(path, root))
    return found


def words(paths):
    found = set()
    for path in paths:
        found.update(re.findall(r'\beddy_\w+', read(path)))
    return found


def users(root, layer):
    """The names that others than the layer's own sources speak of."""
    paths = []
    for folder in ('examples', 'bench', *(other for other in LAYERS if other != layer)):
        for kind in ('c', 'h'):
            paths += glob.glob(os.path.join(root, folder, '**', f'*.{kind}'), recursive=True)
    pages = glob.glob(os.path.join(root, 'docs', '**', '*.md'), recursive=True) + glob.glob(os.path.join(root, '*', 'README.md'))
    return words(paths) | words(page for page in pages if '/decisions/' not in page)


def main():
    root = os.path.abspath(sys.argv[1])
    counts, unused = {}, []
    for layer in LAYERS:
        functions = declared(root, layer)
        used = users(root, layer)
        counts[layer] = len(functions)
        unused += [f'{header}: {name}' for name, header in functions.items() if name not in used and name not in KEPT]
    if sys.argv[2:] == ['--count']:
        print(*(f'{layer} {count}' for layer, count in counts.items()), f'together {sum(counts.values())}', sep='\n')
        return 0
    tap = Tap()
    total = sum(counts.values())
    tap.check('no more public functions than there may be', '' if total <= MOST else f'{total} of at most {MOST}')
    tap.check('every public function is shown, or used by another layer', '\n'.join(unused))
    gone = set(KEPT) - {name for layer in LAYERS for name in declared(root, layer)}
    tap.check('the list of others has no function that is gone', ', '.join(sorted(gone)))
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())

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
MOST = 478
# Without a caller here, and why they are public all the same.
KEPT = {
    'eddy_buffers_open': 'buffers of a program for operations of its own',
    'eddy_buffers_close': 'ends eddy_buffers_open()',
    'eddy_recvmsg': 'the other direction of eddy_sendmsg()',
    'eddy_lines_read': 'the bytes behind a line',
    'eddy_loops_run_blocking': 'eddy_loops_run() for a program without a loop',
    'eddy_mutex_try_lock': 'eddy_mutex_lock() that never suspends',
    'eddy_resolve': 'eddy_dial() without the connection',
    'eddy_offload_stats': 'figures of eddy_offload(), for metrics of the program',
    'eddy_process_kill': 'ends a child of eddy_process_start()',
    'eddy_case_chan_send': 'the other direction of eddy_case_chan_recv()',
    'eddy_case_op': 'an operation in eddy_select()',
    'eddy_semaphore_try_acquire': 'eddy_semaphore_acquire() that never suspends',
    'eddy_task_name': 'the name of a task, for messages of the program',
    'eddy_technique_name': 'the name of a technique, for messages of the program',
    'eddy_trace_dropped': 'whether a timeline is whole',
    'eddy_transfer_stats': 'figures of transfers, for metrics of the program',
    'eddy_accept_parse': 'content negotiation of a program',
    'eddy_app_is_draining': 'for health checks of a program',
    'eddy_response_url': 'where redirects have led',
    'eddy_response_header_count': 'for eddy_response_header_at()',
    'eddy_response_header_at': 'the fields of a response, one by one',
    'eddy_response_length': 'the announced length of a body',
    'eddy_app_use_cors': 'a filter, as the others, that no example needs',
    'eddy_req_bound': 'the address that a request came to',
    'eddy_res_interim': 'early hints; uploads use the mechanism below it',
    'eddy_req_tls': 'the TLS session of a request',
    'eddy_req_tls_peer': 'the certificate of a client',
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
    'eddy_keyset_at': 'eddy-jwt without http: the keys of a set',
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
    # The folders subprojects/ are links to layers, also to this one.
    return words(path for path in paths if '/subprojects/' not in path) | words(page for page in pages if '/decisions/' not in page)


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

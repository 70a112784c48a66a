"""What is measured: programs whose samples take turns, and the rows that are made of their figures."""
import dataclasses


@dataclasses.dataclass
class Program:
    """One sample is one run of it. `{s}` in its arguments is the length of a sample in seconds."""
    key: str
    file: str
    arguments: str
    alone: bool = True  # one thread, which keeps a processor to itself


@dataclasses.dataclass
class Row:
    title: str
    key: str
    base: str = ''       # the key that it is held against
    beside: str = ''     # what that is, in words
    goal: float = 0      # of the ratio, or of the figure itself where there is no base; 0: none
    at_least: bool = False
    figure: str = 'cpu_ns'


@dataclasses.dataclass
class Case:
    name: str
    title: str
    programs: list
    rows: list
    notes: str = ''
    rounds_max: int = 99
    echo: bool = False


TWO = 'swapcontext'

SWITCH = Case('switch', 'From one stack to another', [
    Program('asm-2', 'switch', 'eddy 2 {s}'),
    Program('setjmp-2', 'switch-setjmp', 'eddy 2 {s}'),
    Program('ucontext-2', 'switch-ucontext', 'eddy 2 {s}'),
    Program('swapcontext-2', 'switch', 'swapcontext 2 {s}'),
    Program('asm-many', 'switch', 'eddy {n} {s}'),
    Program('setjmp-many', 'switch-setjmp', 'eddy {n} {s}'),
    Program('swapcontext-many', 'switch', 'swapcontext {n} {s}'),
], [
    Row('assembly, two tasks', 'asm-2', 'swapcontext-2', TWO, 0.04),
    Row('`_setjmp`/`_longjmp`, two tasks', 'setjmp-2', 'swapcontext-2', TWO, 0.10),
    Row('`-Dswitch=ucontext`, two tasks', 'ucontext-2', 'swapcontext-2', TWO),
    Row('assembly, {n} tasks in a circle', 'asm-many', 'swapcontext-2', TWO + ', two stacks', 0.15),
    Row('assembly, {n} tasks in a circle', 'asm-many', 'swapcontext-many', TWO + ', {n} stacks'),
    Row('`_setjmp`/`_longjmp`, {n} tasks in a circle', 'setjmp-many', 'swapcontext-many', TWO + ', {n} stacks'),
], 'One way, straight from stack to stack, without a scheduler. In a circle of {n} no stack is in the first two caches, '
   'nor its page in the TLB, when its turn comes: that is what is measured there.')

SPAWN = Case('spawn', 'A task from start to end', [
    Program('one', 'spawn', 'eddy {s}'),
    Program('together', 'spawn', 'together {s}'),
    Program('swapcontext', 'switch', 'swapcontext 2 {s}'),
    Program('makecontext', 'spawn', 'makecontext {s}'),
    Program('pthread', 'spawn', 'pthread {s}'),
], [
    Row('spawn, run, finish and join one', 'one', 'swapcontext', 'one swapcontext', 1.0),
    Row('the same', 'one', 'makecontext', 'makecontext, there and back'),
    Row('the same', 'one', 'pthread', 'pthread_create and _join'),
    Row('spawn 32, join them all; each', 'together', 'swapcontext', 'one swapcontext'),
], 'An empty function, on a stack of the pool.')

NOP = Case('nop', 'To the kernel and back', [
    Program('eddy', 'nop', 'eddy 1 {s}'),
    Program('bare', 'nop', 'bare 1 {s}'),
    Program('eddy-32', 'nop', 'eddy 32 {s}'),
    Program('bare-32', 'nop', 'bare 32 {s}'),
], [
    Row('a task awaits a NOP', 'eddy', 'bare', 'bare liburing', 1.15),
    Row('32 tasks do; each NOP', 'eddy-32', 'bare-32', 'bare liburing, 32 at once'),
], 'The bare loop queues, enters, and takes the completion off, on a ring that is set up in the same way.')

ECHO = Case('echo', 'TCP echo of 64 bytes, 64 connections', [
    Program('eddy', 'echo-eddy', '{port}'),
    Program('single', 'echo-bare', 'single {port}'),
    Program('multishot', 'echo-bare', 'multishot {port}'),
    Program('uv', 'echo-uv', 'quick {port}'),
    Program('uv-guide', 'echo-uv', 'guide {port}'),
], [
    Row('cpu of a round trip', 'eddy', 'single', 'bare liburing, receive then send', 1.05),
    Row('the same', 'eddy', 'multishot', 'bare liburing, multishot and shared buffers'),
    Row('the same', 'eddy', 'uv', 'libuv, `uv_try_write` from a buffer that stays', 0.80),
    Row('the same', 'eddy', 'uv-guide', 'libuv, as its guide writes it', 0.80),
    Row('round trips', 'eddy', 'single', 'bare liburing, receive then send', 1.0, True, 'rate'),
    Row('the same', 'eddy', 'uv', 'libuv, `uv_try_write`', 1.0, True, 'rate'),
], 'Each server on one processor, the client on another; *cpu* is that of the server\'s process, kernel workers '
   'included. eddy\'s is a task for each connection that receives and sends in a loop.', echo=True)

CHAN = Case('chan', 'Between tasks of one loop', [
    Program('yield', 'yield', '2 {s}'),
    Program('chan', 'sync', 'chan 2 {s}'),
    Program('buffered', 'sync', 'chan-buffered 2 {s}'),
    Program('mutex', 'sync', 'mutex 2 {s}'),
    Program('yield-many', 'yield', '{n} {s}'),
    Program('mutex-many', 'sync', 'mutex {n} {s}'),
], [
    Row('an item through a channel without a buffer', 'chan', 'yield', 'a yield', 4.0),
    Row('through one that holds 64', 'buffered', 'yield', 'a yield', 4.0),
    Row('hand-off of a mutex, two want it', 'mutex', 'yield', 'a yield'),
    Row('hand-off of a mutex, {n} want it', 'mutex-many', 'yield-many', 'a yield, {n} tasks'),
], 'Sent and received. The yield, scheduler included, is of the same run.')

OTHERS = Case('others', 'Held against nothing', [
    Program('yield', 'yield', '2 {s}'),
    Program('yield-1000', 'yield', '1000 {s}'),
    Program('yield-many', 'yield', '{n} {s}'),
    Program('sleep0', 'others', 'sleep0 {s}'),
    Program('timer', 'others', 'timer {s}'),
    Program('offload', 'others', 'offload {s}', False),
    Program('message', 'others', 'message {s}', False),
], [
    Row('yield to the next task, two of them', 'yield'),
    Row('the same, 1,000 of them', 'yield-1000'),
    Row('the same, {n} of them', 'yield-many'),
    Row('`eddy_sleep(0)`: a turn of the loop', 'sleep0'),
    Row('disarm and arm one of 1,000 timers', 'timer'),
    Row('offload an empty function, wall time', 'offload', figure='wall_ns'),
    Row('a message to another loop and one back, wall time', 'message', figure='wall_ns'),
])


FEW = '10 routes'
SHAPES = (('static', '`/static7/list`'), ('param', '`/things7/{id}`'), ('deep', 'eight segments, three parameters'),
          ('none', 'a path that no route has'), ('turn', 'every static route in turn'))

ROUTER = Case('router', 'From a path to its route', [
    Program(f'{shape}-{count}', 'router', f'{shape} {count} {{s}}') for shape, _ in SHAPES for count in (10, 1000, 10000)
], [
    Row(f'{words}, {count:,} routes', f'{shape}-{count}', f'{shape}-10' if count > 10 else '', FEW if count > 10 else '',
        1.25 if count > 10 and shape != 'turn' else 0)
    for shape, words in SHAPES for count in (10, 1000, 10000)
], 'The splitting and decoding of the path is part of it. Sixteen paths, spread over all routes, are looked up over and over; '
   'in turn, the nodes of 10,000 routes are in no small cache: that is what is measured there.')

CODINGS = (('zstd', 'zstd 3'), ('br', 'br 4'), ('gzip', 'gzip 6'))
BODIES = ((4096, '4 KiB'), (1 << 20, '1 MiB'))

CODEC = Case('codec', 'Encoding', [
    *(Program(f'{how}-{coding}-{size}', 'codec', f'{how} {coding} {size} {{s}}')
      for coding, _ in CODINGS for size, _ in BODIES for how in ('eddy', 'bare')),
    *(Program(f'steps-{coding}', 'codec', f'steps {coding} {8 << 20} {{s}}') for coding, _ in CODINGS),
], [
    *(Row(f'{level}, bodies of {words}, a KiB', f'eddy-{coding}-{size}', f'bare-{coding}-{size}', 'the bare library', 1.05)
      for coding, level in CODINGS for size, words in BODIES),
    *(Row(f'{level}, a step, median of the slowest hundredth', f'steps-{coding}', goal=1000, figure='step_us')
      for coding, level in CODINGS),
], 'Text, in pieces of 64 KiB, at the levels and windows that are default. What a loop can be held for is a step.')


SCRIPTS = (('ascii', 'ASCII'), ('german', 'German'), ('chinese', 'Chinese'))

UTF8 = Case('utf8', 'Whether text is UTF-8', [
    Program(f'{how}-{script}', 'utf8', f'{how} {script} {{s}}') for script, _ in SCRIPTS for how in ('parts', 'characters')
], [Row(f'{name}, a KiB', f'parts-{script}', f'characters-{script}', 'character by character', 1.0) for script, name in SCRIPTS],
    'As WebSockets check it: in parts of 8 KiB that may end within a character, by one shift a byte, and 64 bytes of ASCII at a time.')


BODIES = ((10, 'a KiB'), (640, '64 KiB'))

JSON_PEERS = (('jansson-{}', 'a tree of jansson', 1.0), ('yyjson-{}', 'a tree of yyjson', 0), ('go-{}', "Go's encoding/json", 0))

JSON = Case('json', 'JSON into structs and back', [
    Program(f'{key}-{items}', file, f'{words} {items} {{s}}')
    for items, _ in BODIES for how in ('read', 'write')
    for key, file, words in ((how, 'json', how), (f'jansson-{how}', 'json', f'jansson-{how}'), (f'yyjson-{how}', 'json-yyjson', how),
                             (f'go-{how}', 'json-go', how))
], [Row(f'{how} a body of {size}, a KiB' if goal else 'the same', f'{how}-{items}', f'{peer.format(how)}-{items}', beside, goal)
    for how in ('read', 'write') for items, size in BODIES for peer, beside, goal in JSON_PEERS],
    'By tables of members, without a tree: objects of five members, a quarter of whose texts have escapes. yyjson accepts duplicate names.')


# What a token may take beside OpenSSL's bare verification. The other algorithms are wolfCrypt's.
WHOLE = {'HS256': 3, 'RS256': 1.4, 'PS256': 1.4, 'ES256': 1.4}
SIGNED = ('HS256', 'RS256', 'PS256', 'ES256', 'ES384', 'ES512', 'Ed25519', 'Ed448')


def verifying(algs):
    return Case('jwt', 'Verifying tokens', [
        *(Program(f'{how}-{alg}', 'jwt', f'{how} {alg} {{s}}') for alg in algs for how in ('key', 'token', 'bare')),
        *(Program(f'openssl-{alg}', 'jwt-openssl', f'{alg} {{s}}') for alg in algs),
    ], [row for alg in algs for row in (
        Row(f'{alg}: `eddy_jwk_verify()`', f'key-{alg}', f'bare-{alg}', 'bare wolfCrypt', 0.9, True, 'cpu_rate'),
        Row(f'{alg}: a token, parsed and verified', f'token-{alg}', f'bare-{alg}', 'bare wolfCrypt', 0 if alg in WHOLE else 0.9, True,
            'cpu_rate'),
        Row(f'{alg}: the same, time', f'token-{alg}', f'openssl-{alg}', 'bare OpenSSL', WHOLE.get(alg, 0)),
    )], 'A second of processor time, all threads: ES384 and ES512 are verified by the offload pool, and its way there and back counts. '
        'The libraries have a key object that is made once, and hash the same text. Each thread has used the key before: '
        'wolfCrypt makes a table of a point of ES* when a thread uses it for the second time, which takes 10 to 30 ms once.')


def parked(name, count):
    tasks = f'{count:,}'
    return Case(name, f'{tasks} tasks that wait', [Program('eddy', 'parked', str(count))], [
        Row('resident, each', 'eddy', goal=4608, figure='bytes'),
        Row('page tables, each', 'eddy', figure='table_bytes'),
        Row('mappings more than of one task', 'eddy', figure='mappings'),
        Row('spawn on a new stack, each', 'eddy'),
        Row('end, each', 'eddy', figure='end_ns'),
    ], 'Each on a guarded stack of 256 KiB of address space, with `vm.max_map_count` as it is.', rounds_max=3)


MILLION = 'parked-million'
CASES = [SWITCH, SPAWN, NOP, ECHO, CHAN, ROUTER, CODEC, UTF8, JSON, verifying(SIGNED), OTHERS, parked('parked', 100_000), parked(MILLION, 1_000_000)]
SMALL = [SWITCH, SPAWN, NOP, ECHO, CHAN, ROUTER, CODEC, UTF8, JSON, verifying(('HS256', 'ES256')), OTHERS, parked('parked', 1000)]


def chosen(names):
    known = ' '.join(c.name for c in CASES)
    for name in names:
        if not any(c.name == name for c in CASES):
            raise SystemExit(f'bench: there is no micro-benchmark {name}; these are: {known}')
    return [c for c in CASES if not names or c.name in names]

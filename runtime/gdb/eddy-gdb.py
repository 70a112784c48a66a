"""The tasks of an eddy program in gdb, on a live process, a core file or the replay of a recording.

Loaded by itself with libeddy-runtime.so that is installed; else: source runtime/gdb/eddy-gdb.py

    (gdb) info tasks              every task: its name, what it does or waits for, since when, where it was spawned
    (gdb) info scopes             the tree of scopes, with the tasks inside each
    (gdb) task 3                  select a task: bt, up, down, frame, info locals are about it from then on
    (gdb) task                    say which one is selected
    (gdb) task none               back to the thread
    (gdb) task 3 bt               run a command with a task selected
    (gdb) task apply all bt       ... with each; or: task apply 1 4-6 bt

Where more than one loop runs, a task is called LOOP.TASK: 2.3.

In a replay (eddy replay FILE --gdb):

    (gdb) eddy seek 1200          go to event 1200, also backwards; or: eddy seek 1.5s, eddy seek request 17
    (gdb) eddy seek               say where it is
    (gdb) eddy next-event         go on to the next event
    (gdb) eddy back               go back to the event before

Going back runs the replay again from its start.

How a task that does not run is shown: gdb asks an unwinder for the caller of a thread's innermost frame, and the one
here answers with the registers that the task saved when it was switched away from. What the thread itself does is
hidden meanwhile. As soon as the process goes on, the selection is gone.
"""
import os
import re
import time

import gdb
import gdb.unwinder

OPS = '''nop readv writev fsync read_fixed write_fixed poll_add poll_remove sync_file_range sendmsg recvmsg timeout
timeout_remove accept async_cancel link_timeout connect fallocate openat close files_update statx read write fadvise
madvise send recv openat2 epoll_ctl splice provide_buffers remove_buffers tee shutdown renameat unlinkat mkdirat
symlinkat linkat msg_ring fsetxattr setxattr fgetxattr getxattr socket uring_cmd send_zc sendmsg_zc read_multishot
waitid futex_wait futex_wake futex_waitv fixed_fd_install ftruncate bind listen recv_zc epoll_wait readv_fixed
writev_fixed pipe'''.split()
LIST_MAX = 10_000_000  # a list that is longer goes in circles
WORD = 8


class Complaint(Exception):
    """One line for whoever typed the command."""


# --- reading the process

def no_debug_information(seen):
    """What to do depends on where the runtime is: in a library of its own, or in the program."""
    series = next((found[1] for objfile in gdb.objfiles()
                   if (found := re.search(r'/libeddy-runtime\.so\.(\d+\.\d+)[^/]*$', objfile.filename or ''))), None)
    remedy = 'is the program loaded, and built with -g?' if not series else \
        f'install libeddy-runtime{series}-dbgsym if eddy is of Debian\'s packages, else build it with -g'
    return Complaint(f'no debug information of the eddy runtime here{seen}: {remedy}')


def lookup_type(name):
    try:
        return gdb.lookup_type(name)
    except gdb.error:
        raise no_debug_information(f' ({name} is unknown)') from None


def read_word(address):
    data = gdb.selected_inferior().read_memory(address, WORD)
    return int.from_bytes(bytes(data), 'little')


def nodes(head):
    """The nodes of a list, without its head."""
    end, node = int(head.address), head['next']
    for _ in range(LIST_MAX):
        if int(node) == end:
            return
        if int(node) == 0:
            raise Complaint(f'the list at {end:#x} is being changed right now, damaged, or not in the core file '
                            '(generate-core-file leaves stacks out, the kernel does not)')
        yield node
        node = node['next']
    raise Complaint(f'the list at {end:#x} does not end')


def container(node, name, member):
    kind = lookup_type(name)
    offset = next(field.bitpos for field in kind.fields() if field.name == member) // 8
    return gdb.Value(int(node) - offset).cast(kind.pointer()).dereference()


def text(value, missing='?'):
    if int(value) == 0:
        return missing
    try:
        return value.string(errors='replace', length=-1)[:80]
    except gdb.error:
        return missing


def symbol(pointer):
    """An address, with what lies there if that has a name."""
    shown = pointer.cast(gdb.lookup_type('void').pointer()).format_string(symbols=True)
    return shown.replace('<', '(').replace('>', ')')


def loops():
    registry = gdb.lookup_global_symbol('eddyi_registry')
    if not registry:
        raise no_debug_information('')
    try:
        found = [container(node, 'struct eddy_loop', 'registered') for node in nodes(registry.value()['loops'])]
        _ = [int(loop['id']) for loop in found]
    except gdb.MemoryError:
        raise Complaint('the process has no memory to look at: is it running?') from None
    if not found:
        raise Complaint('no loop runs in this process')
    return found


def inferior_has_process():
    inferior = gdb.selected_inferior()
    return inferior.pid != 0 and bool(inferior.threads())


def find_replay():
    """What the runtime says of the replay that this process is; None: it is not one."""
    try:
        replays = gdb.lookup_global_symbol('eddyi_replays')
        if inferior_has_process() and replays and replays.value():
            return gdb.lookup_global_symbol('eddyi_replay').value()
    except gdb.error:
        pass
    return None


def now():
    """The monotonic clock: of a replay as recorded; of this machine where the process lives on it; else the latest that a loop has seen."""
    replay = find_replay()
    if replay:
        return int(replay['now_ns'])
    connection = getattr(gdb.selected_inferior(), 'connection', None)
    if connection is not None and connection.type == 'native':
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    return max(int(loop['now_ns']) for loop in loops())


def duration(ns):
    seconds = max(ns, 0) / 1e9
    if seconds < 1:
        return f'{seconds * 1e3:.0f} ms'
    if seconds < 100:
        return f'{seconds:.1f} s'
    if seconds < 6000:
        return f'{seconds / 60:.0f} min'
    return f'{seconds / 3600:.0f} h'


# --- the machines: where a suspended stack's registers are

class X86:
    pc, sp = 'rip', 'rsp'

    @staticmethod
    def asm(sp):
        names = ('r15', 'r14', 'r13', 'r12', 'rbx', 'rbp', 'rip')
        regs = {name: read_word(sp + i * WORD) for i, name in enumerate(names)}
        return {**regs, 'rsp': sp + len(names) * WORD}

    @staticmethod
    def setjmp(sp):
        """glibc hides three of them: rotated, and mixed with a secret that lies in the thread's control block."""
        guard = read_word(int(gdb.parse_and_eval('(unsigned long)$fs_base')) + 0x30)

        def show(i):
            value = read_word(sp + i * WORD)
            return (value >> 17 | value << 47) & 0xffffffffffffffff ^ guard

        plain = {name: read_word(sp + i * WORD) for name, i in
                 (('rbx', 0), ('r12', 2), ('r13', 3), ('r14', 4), ('r15', 5))}
        return {**plain, 'rbp': show(1), 'rsp': show(6), 'rip': show(7)}

    @staticmethod
    def ucontext(sp):
        regs = context_at(sp)['gregs']
        index = {'r12': 4, 'r13': 5, 'r14': 6, 'r15': 7, 'rbp': 10, 'rbx': 11, 'rsp': 15, 'rip': 16}
        return {name: int(regs[i]) & 0xffffffffffffffff for name, i in index.items()}


class Arm64:
    pc, sp = 'pc', 'sp'

    @staticmethod
    def asm(sp):
        regs = {f'x{19 + i}': read_word(sp + i * WORD) for i in range(12)}
        regs.update((f'v{8 + i}', read_word(sp + (12 + i) * WORD)) for i in range(8))
        return {**regs, 'pc': regs['x30'], 'sp': sp + 20 * WORD}

    @staticmethod
    def setjmp(_sp):
        raise Complaint('on aarch64 a task that was switched by setjmp can not be looked into: build with -Dswitch=asm')

    @staticmethod
    def ucontext(sp):
        """glibc's swapcontext() goes on in its own end, which has no unwind information, and returns to what is x1
        there."""
        machine = context_at(sp)
        regs = {f'x{i}': int(machine['regs'][i]) for i in range(19, 31)}
        if 'swapcontext' in gdb.execute(f"info symbol {int(machine['pc']):#x}", to_string=True):
            regs['x30'] = int(machine['regs'][1]) or regs['x30']
        return {**regs, 'pc': regs['x30'], 'sp': int(machine['sp'])}


MACHINES = {'i386:x86-64': X86, 'aarch64': Arm64}


def machine_of(frame):
    name = frame.architecture().name()
    if name not in MACHINES:
        raise Complaint(f'tasks that do not run can not be looked into on {name}')
    return MACHINES[name]


def context_at(address):
    return gdb.Value(address).cast(lookup_type('ucontext_t').pointer())['uc_mcontext']


def saved_registers(ctx, machine):
    """Which of its three forms the switch has says a string in switch.c."""
    kind = gdb.parse_and_eval('(const char *)&eddyi_switch').string()
    return getattr(machine, kind)(int(ctx['sp']))


def pc_and_sp(frame, machine):
    return int(frame.read_register(machine.pc)), int(frame.read_register(machine.sp))


# --- a suspended stack as frames

class Stack(gdb.unwinder.Unwinder):
    """While `registers` is set: the caller of the thread's innermost frame, which is where `below` tells, is where
    the task stopped."""

    def __init__(self):
        super().__init__('eddy task')
        self.machine = self.registers = self.below = None

    def show(self, ctx):
        self.hide()
        frame = gdb.newest_frame()
        machine = machine_of(frame)
        registers = saved_registers(ctx, machine)
        self.below = pc_and_sp(frame, machine)
        self.machine, self.registers = machine, registers
        gdb.invalidate_cached_frames()

    def hide(self):
        if self.registers:
            self.registers = None
            gdb.invalidate_cached_frames()

    def __call__(self, pending):
        if not self.registers or pending.architecture().name() not in MACHINES:
            return None
        if pc_and_sp(pending, self.machine) != self.below:
            return None
        saved = {name: fit(value, pending.read_register(name).type) for name, value in self.registers.items()}
        # As if it lay where the task's stack ends: gdb takes a caller with a lower address for a broken stack.
        info = pending.create_unwind_info(FrameId(saved[self.machine.sp], pending.read_register(self.machine.pc)))
        for name, value in saved.items():
            info.add_saved_register(name, value)
        return info

    def first_frame(self):
        """The frame of the switch."""
        frame = gdb.newest_frame()
        while frame and pc_and_sp(frame, self.machine) == self.below:
            frame = frame.older()
        return frame


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


def fit(value, kind):
    return gdb.Value(value.to_bytes(kind.sizeof, 'little'), kind)


class HideThread:
    """Backtraces begin with the task's frames; what the thread itself does is no caller of theirs."""

    def __init__(self):
        self.name, self.priority, self.enabled = 'eddy task', 100, True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        if not stack.registers:
            return frames
        return (f for f in frames if pc_and_sp(f.inferior_frame(), stack.machine) != stack.below)


stack = Stack()


# --- tasks

class Task:
    def __init__(self, value, loop, ready, scope):
        self.value, self.loop, self.scope = value, loop, scope
        self.loop_id, self.id = int(loop['id']), int(value['id'])
        self.key = (self.loop_id, self.id)
        self.name = text(value['name'])
        self.address = int(value.address)
        self.since = None
        self.suspended = True
        self.state = self._state(ready)

    def _state(self, ready):
        waiter = self.value['waiter']
        if int(self.loop['running']) == self.address:
            self.suspended = False
            return 'running'
        if int(self.loop['on_stack']['task']) == self.address:
            return 'running on the stack of its loop'
        if self.address in ready:
            if int(waiter) == 0:
                return 'ready, not started yet'
            what = wait_of(waiter)
            return 'ready' if what == 'yield' else f'ready, was waiting for {what}'
        if int(waiter) == 0:
            return 'being switched to or from'
        self.since = int(waiter['since_ns'])
        return 'waiting for ' + wait_of(waiter)

    def label(self, many):
        return f'{self.loop_id}.{self.id}' if many else str(self.id)

    def has(self, address):
        return int(self.value['low']) <= address < self.address

    def about(self, before=''):
        """The request that it works on, as "GET /users/{id}", or else where it was spawned."""
        return text(self.value['label'], '') or before + text(self.value['where'], '-')

    def thread(self):
        """The thread that runs it."""
        for thread in gdb.selected_inferior().threads():
            frame = frame_of(thread)
            for _ in range(100):
                if not frame:
                    break
                if self.has(pc_and_sp(frame, machine_of(frame))[1]):
                    return thread
                frame = frame.older()
        raise Complaint(f'no thread is on the stack of task "{self.name}", though it runs')


def wait_of(waiter):
    what, op = text(waiter['what'], 'something'), waiter['op']
    if int(op):
        code, fd = int(op['opcode']), int(op['fd'])
        what = OPS[code] if code < len(OPS) else f'op {code}'
        if fd >= 0:
            what += f', fd {fd}'
        if op['cancelling']:
            what += ', being cancelled'
    elif int(waiter['on']):
        what += ' ' + symbol(waiter['on'])
    return what


def frame_of(thread):
    """The thread's innermost frame. Leaves it selected: see KeepSelection."""
    thread.switch()
    return gdb.newest_frame()


class KeepSelection:
    """Thread, frame and task are afterwards what they were."""

    def __enter__(self):
        self.thread, self.registers, self.below = gdb.selected_thread(), stack.registers, stack.below
        self.selected = current.key
        try:
            self.level = gdb.selected_frame().level()
        except gdb.error:
            self.level = 0
        stack.hide()

    def __exit__(self, *_):
        if self.thread and self.thread.is_valid():
            self.thread.switch()
        stack.hide()
        if self.registers:
            stack.registers, stack.below = self.registers, self.below
            gdb.invalidate_cached_frames()
        current.key = self.selected
        frame = gdb.newest_frame() if self.thread else None
        for _ in range(self.level):
            frame = frame and frame.older()
        if frame:
            frame.select()


def tasks_of(loop):
    """Every task of a loop, in the order of their spawning."""
    ready = {int(container(node, 'struct eddy_task', 'queued').address) for node in nodes(loop['ready'])}
    found = []
    for scope, _ in scopes_of(loop['root']):
        found += [Task(container(node, 'struct eddy_task', 'inside'), loop, ready, scope)
                  for node in nodes(scope['tasks'])]
    return sorted(found, key=lambda task: task.id)


def scopes_of(root):
    """A scope and those below it, with how deep they lie."""
    todo = [(root, 0)]
    while todo:
        scope, depth = todo.pop()
        yield scope, depth
        below = [(container(node, 'struct eddy_scope', 'sibling'), depth + 1) for node in nodes(scope['children'])]
        todo += reversed(below)


def all_tasks():
    if not inferior_has_process():
        raise Complaint('there is no process and no core file to look at')
    found = [task for loop in loops() for task in tasks_of(loop)]
    return found, len({task.loop_id for task in found}) > 1


class Current:
    """Which task is selected."""

    def __init__(self):
        self.key = None

    def forget(self, _event=None):
        self.key = None
        stack.registers = None

    def is_task(self, task):
        if self.key:
            return task.key == self.key
        if task.suspended:
            return False
        try:
            frame = gdb.newest_frame()
            return task.has(pc_and_sp(frame, machine_of(frame))[1])
        except gdb.error:
            return False

    def select(self, task):
        self.key = None
        stack.hide()
        if task.suspended:
            if int(task.value['ctx']['entry']):
                raise Complaint(f'task "{task.name}" has no frames yet: it was never switched to')
            stack.show(task.value['ctx'])
            self.key = task.key
        else:
            task.thread().switch()


current = Current()


def find(word, found, many):
    try:
        numbers = [int(n) for n in word.split('.')]
    except ValueError:
        raise Complaint(f'"{word}" is no task; info tasks lists them') from None
    if len(numbers) > 2:
        raise Complaint(f'"{word}" is no task; info tasks lists them')
    hits = [task for task in found if list(task.key)[-len(numbers):] == numbers]
    if len(hits) > 1:
        raise Complaint(f'there is a task {word} in more than one loop: say ' +
                        ' or '.join(task.label(many) for task in hits))
    if not hits:
        raise Complaint(f'there is no task {word}; info tasks lists them')
    return hits[0]


def folder_of(symtab):
    """The end of its path: a compiler's cache may have another checkout's beginning."""
    return os.path.dirname(symtab.fullname()).split('/')[-2:]


def users_frame():
    """The innermost frame outside of the runtime's own sources; the innermost one when there is none."""
    first = frame = stack.first_frame() if stack.registers else gdb.newest_frame()
    anchor = gdb.lookup_global_symbol('eddyi_registry')
    own = folder_of(anchor.symtab) if anchor else ''
    while frame:
        symtab = frame.find_sal().symtab
        if symtab and folder_of(symtab) != own:
            return frame
        frame = frame.older()
    return first


def describe(task, many):
    since = f', for {duration(now() - task.since)}' if task.since else ''
    return f'task {task.label(many)} "{task.name}" of loop "{text(task.loop["name"])}", {task.state}{since}'


# --- the commands

def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print('  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


class Command(gdb.Command):
    """A command whose mistakes are one line."""

    def invoke(self, argument, from_tty):
        try:
            self.run(argument.strip(), from_tty)
        except Complaint as complaint:
            raise gdb.GdbError(f'eddy: {complaint}') from None
        except gdb.MemoryError as error:
            raise gdb.GdbError(f'eddy: memory can not be read, the process may have been caught amid a change: {error}') \
                from None
        except gdb.error as error:
            raise gdb.GdbError(f'eddy: {error}') from None


class InfoTasks(Command):
    """List the tasks of every eddy loop of the process: * is the selected one."""

    def __init__(self):
        super().__init__('info tasks', gdb.COMMAND_STATUS)

    def run(self, _argument, _from_tty):
        found, many = all_tasks()
        clock = now()
        rows = [('  Id', 'Loop', 'Name', 'State', 'For', 'Request or place')]
        for task in found:
            rows.append((('* ' if current.is_task(task) else '  ') + task.label(many), text(task.loop['name']),
                         task.name, task.state, duration(clock - task.since) if task.since else '-',
                         task.about()))
        table(rows)


class InfoScopes(Command):
    """Show the tree of scopes of every eddy loop, with the tasks inside each."""

    def __init__(self):
        super().__init__('info scopes', gdb.COMMAND_STATUS)

    def run(self, _argument, _from_tty):
        found, many = all_tasks()
        clock = now()
        by_address = {task.address: task for task in found}
        for loop in loops():
            for scope, depth in scopes_of(loop['root']):
                self.show_scope(loop, scope, depth, by_address, many, clock)

    @staticmethod
    def show_scope(loop, scope, depth, by_address, many, clock):
        indent = '  ' * depth
        host = by_address.get(int(scope['host']))
        if depth == 0:
            says = [f'loop {int(loop["id"])} "{text(loop["name"])}"']
        else:
            begun = f'begun by task {host.label(many)} "{host.name}"' if host else 'begun by a task that is gone'
            says = [f'scope {int(scope.address):#x} {begun}']
        says += [word for word, member in (('fail-fast', 'fail_fast'), ('shielded', 'shielded'),
                                           ('cancelled', 'cancelled')) if scope[member]]
        if int(scope['timer']['prev']):
            says.append(f'{duration(int(scope["timer"]["at_ns"]) - clock)} left')
        if int(scope['result']):
            says.append(f'result {int(scope["result"])}')
        print(indent + ', '.join(says))
        for node in nodes(scope['tasks']):
            task = by_address.get(int(container(node, 'struct eddy_task', 'inside').address))
            if task:
                since = f', for {duration(clock - task.since)}' if task.since else ''
                print(f'{indent}  task {task.label(many)} "{task.name}", {task.state}{since}')


class SelectTask(Command):
    """Select a task, or run a command with it selected: task N [COMMAND], task none, task apply N…|all COMMAND."""

    def __init__(self):
        super().__init__('task', gdb.COMMAND_STACK, prefix=True)

    def run(self, argument, _from_tty):
        word, _, command = argument.partition(' ')
        if word == 'none':
            stack.hide()
            current.forget()
            return
        found, many = all_tasks()
        if not word:
            task = next((task for task in found if current.is_task(task)), None)
            print(f'Selected: {describe(task, many)}' if task else 'No task is selected.')
            return
        task = find(word, found, many)
        if command.strip():
            with KeepSelection():
                current.select(task)
                users_frame().select()
                gdb.execute(command)
            return
        current.select(task)
        users_frame().select()
        print(f'[{describe(task, many)}, {task.about("spawned at ")}]')
        gdb.execute('frame')


class ApplyTask(Command):
    """Run a command with each of some tasks selected: task apply all bt, task apply 1 4-6 bt."""

    def __init__(self):
        super().__init__('task apply', gdb.COMMAND_STACK)

    def run(self, argument, _from_tty):
        found, many = all_tasks()
        wanted, words = [], argument.split(' ')
        while words and (words[0] in ('', 'all') or words[0][0].isdigit()):
            word = words.pop(0)
            if word == 'all':
                wanted += found
            elif '-' in word:
                first, last = (find(end, found, many) for end in word.split('-', 1))
                wanted += [task for task in found if first.key <= task.key <= last.key]
            elif word:
                wanted.append(find(word, found, many))
        if not wanted or not words:
            raise Complaint('say which tasks and what: task apply all bt, task apply 1 4-6 bt')
        for task in wanted:
            print(f'\n{describe(task, many)}:')
            with KeepSelection():
                try:
                    current.select(task)
                    users_frame().select()
                    gdb.execute(' '.join(words))
                except (Complaint, gdb.error) as error:
                    print(f'eddy: {error}')


# --- replays

def place_of(replay):
    """Where it is: its event, request and nanosecond."""
    return {'event': int(replay['events']), 'request': int(replay['requests']),
            'ns': int(replay['now_ns']) - int(replay['began_ns'])}


def parse_place(argument):
    """What a place counts, and how many of these."""
    found = re.fullmatch(r'(request )?(\d+)', argument)
    if found:
        return 'request' if found[1] else 'event', int(found[2])
    found = re.fullmatch(r'(\d+(?:\.\d*)?)(s|ms|us)', argument)
    if found:
        return 'ns', int(float(found[1]) * {'s': 1e9, 'ms': 1e6, 'us': 1e3}[found[2]]) + 1
    raise Complaint(f'"{argument}" is no place in a replay: say 1200 (an event), 1.5s, 20ms, or request 17')


def go(command):
    """Let the process run to its next stop, and show that as little as gdb can."""
    quiet = 'suppress-cli-notifications'
    try:
        gdb.execute(f'set {quiet} on', to_string=True)
    except gdb.error:   # before gdb 13
        quiet = None
    try:
        gdb.execute(command, to_string=True)
    finally:
        if quiet:
            gdb.execute(f'set {quiet} off')


def select_event():
    """Select the frame that made the call of the event, where the replay has stopped for one. Return: false elsewhere."""
    frame = gdb.newest_frame()
    while frame and not (frame.name() == 'stop' and frame.find_sal().symtab and
                         frame.find_sal().symtab.filename.endswith('record/watch.c')):
        frame = frame.older()
    if not frame:
        return False
    own = os.path.dirname(os.path.dirname(frame.find_sal().symtab.fullname()))
    caller = frame
    while caller and (not caller.find_sal().symtab or caller.find_sal().symtab.fullname().startswith(own) or
                      '/eddy/internal/' in caller.find_sal().symtab.fullname()):
        caller = caller.older()
    (caller or frame.older()).select()
    return True


def seek(argument):
    """Run the replay to a place, from its start if it is there already."""
    kind, value = parse_place(argument)
    replay = find_replay()
    if inferior_has_process() and not replay:
        raise Complaint('this process is no replay; start one: eddy replay FILE --gdb')
    if replay and place_of(replay)[kind] < value:
        for member, number in ((f'until_{kind}', value), ('is_watched', 1)):
            target = replay[member]
            gdb.selected_inferior().write_memory(int(target.address), number.to_bytes(target.type.sizeof, 'little'))
        go('continue')
    else:
        gdb.execute(f'set environment EDDY_REPLAY_UNTIL {argument}')
        go('run')
        gdb.execute('unset environment EDDY_REPLAY_UNTIL')
    if not find_replay():
        print('The replay has ended.')
    elif select_event():
        gdb.execute('frame')
    else:
        print('The program has stopped before that place:')
        gdb.execute('backtrace 1')


class Eddy(gdb.Command):
    """Commands for the replay of a recording."""

    def __init__(self):
        super().__init__('eddy', gdb.COMMAND_RUNNING, prefix=True)


class Seek(Command):
    """Go to a place of the replay: eddy seek N (an event), eddy seek 1.5s, eddy seek request N. Without one: say where it is."""

    def __init__(self):
        super().__init__('eddy seek', gdb.COMMAND_RUNNING)

    def run(self, argument, _from_tty):
        if argument:
            seek(argument)
            return
        replay = find_replay()
        if not replay:
            raise Complaint('no replay runs; start one: eddy replay FILE --gdb, then eddy seek PLACE')
        place = place_of(replay)
        of = f' of {int(replay["last"])}' if int(replay['last']) else ''
        print(f'event {place["event"]}{of}, request {place["request"]}, {place["ns"] / 1e9:.6f} s after the start')


class Step(Command):
    """Go some events on or back."""

    def __init__(self, name, sign):
        super().__init__(f'eddy {name}', gdb.COMMAND_RUNNING)
        self.sign = sign

    def run(self, argument, _from_tty):
        replay = find_replay()
        if not replay:
            raise Complaint('no replay runs; start one: eddy replay FILE --gdb, then eddy seek PLACE')
        if argument and not argument.isdecimal():
            raise Complaint(f'"{argument}" is no number of events')
        seek(str(max(1, place_of(replay)['event'] + self.sign * int(argument or 1))))


class NextEvent(Step):
    """Go on to the next event of the replay; eddy next-event N: to the N-th."""


class Back(Step):
    """Go back to the event before; eddy back N: N events. The replay runs again from its start."""


gdb.unwinder.register_unwinder(None, stack, replace=True)
HideThread()
for kind in (InfoTasks, InfoScopes, SelectTask, ApplyTask):
    kind()
Eddy()
Seek()
NextEvent('next-event', 1)
Back('back', -1)
for event in (gdb.events.cont, gdb.events.exited, gdb.events.inferior_deleted):
    event.connect(current.forget)

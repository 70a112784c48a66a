"""Runs the fuzz harnesses and prints TAP.

    run.py BUILD                     every fuzz-NAME of a build with -Dfuzz=true, FUZZ_SECONDS each (default 60)
    run.py --replay PROGRAM CORPUS   one replay program over the committed seeds

What fuzzing finds stays in BUILD/fuzz: NAME/ has the inputs that reached something new, crash-* the findings.
"""
import concurrent.futures
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from tap import Tap  # noqa: E402


def start(args):
    return subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors='replace', check=False)


def replay(tap, program, corpus):
    name = os.path.basename(program)
    seeds = sorted(glob.glob(os.path.join(corpus, '*')))
    run = start([program, *seeds])
    if not seeds:
        tap.fail(name, f'{corpus} has no seed')
    else:
        tap.check(f'{name} over {len(seeds)} seeds', run.stdout if run.returncode else '')


def fuzz_one(program, build, seconds):
    name = os.path.basename(program)[len('fuzz-'):]
    found = os.path.join(build, 'fuzz', name)
    os.makedirs(found, exist_ok=True)
    args = [program, f'-max_total_time={seconds}', '-timeout=10', '-rss_limit_mb=2048', '-print_final_stats=1',
            f'-artifact_prefix={build}/fuzz/crash-{name}-', found]
    args += [os.path.join(HERE, 'corpus', name)]
    dictionary = os.path.join(HERE, name + '.dict')
    if os.path.exists(dictionary):
        args.append(f'-dict={dictionary}')
    return start(args)


def fuzz(tap, build):
    seconds = int(os.environ.get('FUZZ_SECONDS', '60'))
    programs = [p for p in sorted(glob.glob(os.path.join(build, 'tests', 'fuzz', 'fuzz-*'))) if os.path.isfile(p)]
    print(f'fuzzing: {len(programs)} harnesses, {seconds} s each …', file=sys.stderr, flush=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        runs = pool.map(lambda program: fuzz_one(program, build, seconds), programs)
        for program, run in zip(programs, runs):
            units = [line.split()[-1] for line in run.stdout.splitlines() if 'number_of_executed_units' in line]
            name = f'{os.path.basename(program)} for {seconds} s, {units[0] if units else "?"} inputs'
            tap.check(name, run.stdout if run.returncode else '')
            print(name, file=sys.stderr, flush=True)


def main():
    tap = Tap()
    if sys.argv[1] == '--replay':
        replay(tap, *sys.argv[2:4])
    else:
        fuzz(tap, os.path.abspath(sys.argv[1]))
    return tap.end()


sys.exit(main())

"""A timeline as its file has it, and the rules of Chrome's trace event format. Times are whole nanoseconds."""
import bisect
import collections
import decimal
import json


def ns(event, key='ts'):
    return int(event[key] * 1000)


class Timeline:
    def __init__(self, path):
        with open(path, 'rb') as file:
            # Strictly: bytes that are no UTF-8, NaN and names that come twice are errors.
            text = file.read().decode()
        self.whole = json.loads(text, parse_float=decimal.Decimal, parse_constant=self.refuse, object_pairs_hook=self.unique)
        self.events = self.whole['traceEvents']
        self.records, self.dropped = self.whole['otherData']['records'], self.whole['otherData']['dropped']
        self.groups, self.tracks = {}, {}
        for event in self.of('M'):
            if event['name'] == 'process_name':
                self.groups[event['pid']] = event['args']['name']
            elif event['name'] == 'thread_name':
                self.tracks[event['pid'], event['tid']] = event['args']['name']

    @staticmethod
    def refuse(name):
        raise ValueError(f'{name} is no JSON')

    @staticmethod
    def unique(pairs):
        if len(dict(pairs)) != len(pairs):
            raise ValueError(f'a name comes twice: {pairs}')
        return dict(pairs)

    def of(self, phase, category=None, name=None, track=None):
        return [e for e in self.events if e['ph'] == phase and category in (None, e.get('cat')) and name in (None, e['name'])
                and (track is None or self.tracks.get((e['pid'], e['tid'])) == track)]

    def wrong(self, sampled=False):
        """What breaks a rule, a line each; `sampled`: or was lost, so that an arrow may lead from what is not there."""
        wrong = [f'unknown phase: {e}' for e in self.events if e['ph'] not in 'MXbesfCi']
        wrong += [f'no name for group {e["pid"]}: {e}' for e in self.events if e['pid'] not in self.groups]
        wrong += [f'no name for its track: {e}' for e in self.events if e['ph'] in 'Xbesf' and (e['pid'], e['tid']) not in self.tracks]
        wrong += [f'before the timeline, or cut to another nanosecond: {e}' for e in self.events if 'ts' in e
                  and (e['ts'] < 0 or int(float(e['ts']) * 1000.0) != ns(e))]
        wrong += self.wrong_slices() + self.wrong_pairs() + self.wrong_arrows(sampled) + self.wrong_ops()
        return wrong

    def slices(self):
        """Of each track, in the order of the file: begin, end, event."""
        tracks = collections.defaultdict(list)
        for event in self.of('X'):
            tracks[event['pid'], event['tid']].append((ns(event), ns(event) + ns(event, 'dur'), event))
        return tracks

    def wrong_slices(self):
        """Time rises on each track, and a loop does one thing at a time."""
        wrong, loops = [], collections.defaultdict(list)
        for track in self.slices().values():
            end = 0
            for begin, until, event in track:
                if begin < end or until < begin:
                    wrong.append(f'begins before {end / 1e3}, where the one before it on its track ends: {event}')
                end = until
                if event['cat'] not in ('wait', 'offload'):
                    loops[event['pid']].append((begin, until, event))
        for slices in loops.values():
            slices.sort(key=lambda s: s[:2])
            wrong += [f'while {a[2]}: {b[2]}' for a, b in zip(slices, slices[1:]) if b[0] < a[1]]
        return wrong

    def wrong_pairs(self):
        """Each b has its e, of the same track."""
        wrong, pairs = [], collections.defaultdict(list)
        for event in self.of('b') + self.of('e'):
            pairs[event['cat'], event['id']].append(event)
        for events in pairs.values():
            if [e['ph'] for e in events] != ['b', 'e'] or ns(events[0]) > ns(events[1]):
                wrong.append(f'no pair: {events}')
            elif any(events[0][key] != events[1][key] for key in ('pid', 'tid', 'name')):
                wrong.append(f'a pair of two: {events}')
        return wrong

    def wrong_arrows(self, sampled):
        """Each s has its f, and both are in a slice."""
        wrong, pairs, slices = [], collections.defaultdict(list), self.slices()
        begins = {track: [begin for begin, _, _ in of] for track, of in slices.items()}

        def is_inside(event):
            # The last that has begun; those before it have ended by then.
            at, track = ns(event), (event['pid'], event['tid'])
            index = bisect.bisect_right(begins.get(track, []), at)
            return any(at <= end for _, end, _ in slices[track][max(index - 2, 0):index])

        for event in self.of('s') + self.of('f'):
            pairs[event['cat'], event['name'], event['id']].append(event)
        for events in pairs.values():
            if [e['ph'] for e in events] != ['s', 'f'] or ns(events[0]) > ns(events[1]):
                wrong.append(f'no arrow: {events}')
            elif events[1].get('bp') != 'e' or not is_inside(events[1]) or not (sampled or is_inside(events[0])):
                wrong.append(f'an arrow from or to nothing: {events}')
        return wrong

    def wrong_ops(self):
        return [f'no fd or result: {e}' for e in self.of('b', 'op') + self.of('X', 'completion')
                if not {'fd', 'result'} <= set(e['args'])]

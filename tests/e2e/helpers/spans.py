"""What the tests of spans share: a service whose spans go to a collector."""
import json

from collector import Collector
from wire import Case

PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
TRACE, PARENT_ID = PARENT[3:35], PARENT[36:52]


class SpansCase(Case):
    def collector(self, *answers, **options):
        collector = Collector(*answers, **options)
        self.addCleanup(collector.close)
        return collector

    def traced(self, collector=None, server='', env=None, log=None, **keys):
        """A service; `keys` are of its section [tracing]."""
        keys = {'age_ms': 10, 'retry_ms': 10, 'flush_ms': 10000, **keys}
        if collector:
            keys['collector'] = getattr(collector, 'url', collector)
        path = f'{self.folder()}/config.toml'
        with open(path, 'w', encoding='utf-8') as file:
            file.write(f'[server]\nbind = "127.0.0.1:0"\n{server}\n[tracing]\n')
            file.writelines(f'{key} = {json.dumps(value)}\n' for key, value in keys.items())
        clean = {name: '' for name in ('OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_SERVICE_NAME')}
        return self.serve(path, program='traced', log=log, env={**clean, **(env or {})})

    def stats(self, server):
        """The counters; who asks for them is no span, and adds nothing to them."""
        return server.get('/stats', f'traceparent: {PARENT[:-1]}0').json()

    def wait_stats(self, server, **want):
        """Until these counters are at least so."""
        self.eventually(lambda: all(self.stats(server)[key] >= count for key, count in want.items()), 10, lambda: str(self.stats(server)))
        return self.stats(server)

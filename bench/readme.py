"""The figures of README.md: a few cells of a report, beside nginx.

They stand between two comments, and are written there by `./dev bench --publish`, so that nobody types a figure.
"""
import re

BEGIN, END = '<!-- figures: ./dev bench --publish -->', '<!-- end of figures -->'
# Every transfer and request that is held against nginx, also where nginx is ahead.
CELLS = ('get-4k-16', 'get-64k-16', 'get-1m-16', 'get-64m-1', 'get-64m-16', 'get-1g-1', 'put-4k-16', 'put-1m-16', 'put-64m-1',
         'hello-64', 'hello-pipelined', 'tls-get-4k-16', 'tls-get-1m-16', 'tls-get-64m-1', 'tls-put-64m-1')
HEAD = ['| | eddy | nginx | × nginx | CPU time, × nginx |', '|---|--:|--:|--:|--:|']


def _rate(figure):
    return f'{figure["median"]:,.0f}/s' if figure['unit'] == 'requests/s' else f'{figure["median"]:.1f} {figure["unit"]}'


def _ratio(figure):
    against = figure['against']
    return f'**{against["ratio"]:.2f}** ({against["low"]:.2f}–{against["high"]:.2f})'


def _row(cell):
    figures = {target['name']: target['figures'] for target in cell['targets']}
    eddy, nginx = figures['eddy'], figures['nginx']
    return (f'| {cell["title"]} | {_rate(eddy["throughput"])} | {_rate(nginx["throughput"])} | {_ratio(eddy["throughput"])} | '
            f'{_ratio(eddy["cpu"])} |')


def table(result):
    """The lines between the comments; None where a cell or a server is missing."""
    cells = {cell['name']: cell for cell in result['cells'] if {'eddy', 'nginx'} <= {target['name'] for target in cell['targets']}}
    if not set(CELLS) <= set(cells):
        return None
    machine = result['machine']
    said = (f'{machine["cpu"]}, Linux {machine["kernel"].split("-")[0]}, loopback; a processor for the server, one for the client; '
            f'{result["when"][:10]}.')
    return [*HEAD, *(_row(cells[name]) for name in CELLS), '', said]


def filled(text, lines):
    """The README's text with these figures."""
    before, between, after = re.split(f'({re.escape(BEGIN)}.*?{re.escape(END)})', text, maxsplit=1, flags=re.S)
    del between
    return before + '\n'.join([BEGIN, '', *lines, '', END]) + after


def publish(path, result):
    """Write them into the README at `path`. Return: False where the report has not all of them, and nothing has changed."""
    lines = table(result)
    if lines is None:
        return False
    with open(path, encoding='utf-8') as file:
        text = filled(file.read(), lines)
    with open(path, 'w', encoding='utf-8') as out:
        out.write(text)
    return True

"""What figures depend on; nothing that names the machine."""
import datetime
import os
import platform


def facts():
    model = memory = ''
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        for line in file:
            if line.startswith('model name'):
                model = line.split(':', 1)[1].strip()
                break
    with open('/proc/meminfo', encoding='utf-8') as file:
        for line in file:
            if line.startswith('MemTotal'):
                memory = f'{int(line.split()[1]) / (1 << 20):.0f} GiB'
    return {
        'date': datetime.date.today().isoformat(),
        'kernel': platform.release(),
        'cpu': f'{model or platform.machine()}, {os.cpu_count()} processors',
        'memory': memory,
        'load_before': round(os.getloadavg()[0], 1),
    }

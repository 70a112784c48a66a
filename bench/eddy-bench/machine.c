#include "machine.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* The first line of a file. Return: whether there is one. */
static bool read_line(const char *path, char *ret_line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool found = file && fgets(ret_line, (int)size, file);

	if (file)
		fclose(file);
	if (found)
		ret_line[strcspn(ret_line, "\n")] = 0;
	return found && *ret_line;
}

static const char *read_cpu(struct result *result)
{
	char line[512];
	FILE *file = fopen("/proc/cpuinfo", "re");
	const char *cpu = NULL;

	while (file && !cpu && fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');

		if (!colon || strncmp(line, "model name", 10) != 0)
			continue;
		line[strcspn(line, "\n")] = 0;
		cpu = result_text(result, colon + 1 + strspn(colon + 1, " "));
	}
	if (file)
		fclose(file);
	return cpu;
}

/* What a hypervisor calls itself. */
static const char *read_virtual(struct result *result)
{
	char text[64];

#if defined(__x86_64__)
	static const struct {
		const char *signature, *name;
	} known[] = {
		{ "KVMKVMKVM", "kvm" },       { "Microsoft Hv", "hyper-v" },
		{ "VMwareVMware", "vmware" }, { "XenVMMXenVMM", "xen" },
		{ "TCGTCGTCGTCG", "qemu" },   { "bhyve bhyve ", "bhyve" },
	};
	unsigned eax, words[4] = { 0 };

	if (!__get_cpuid(1, &eax, &words[0], &words[1], &words[2]) || !(words[1] >> 31))
		return NULL;
	__cpuid(0x40000000, eax, words[0], words[1], words[2]);
	words[3] = 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp((const char *)words, known[i].signature) == 0)
			return known[i].name;
	return "unknown";
#else
	if (read_line("/sys/hypervisor/type", text, sizeof(text)))
		return result_text(result, text);
	return NULL;
#endif
	(void)text;
	(void)result;
}

/* What the kernel does against its processor: how many of the holes that it has are closed. */
static const char *read_mitigations(struct result *result)
{
	unsigned mitigated = 0, vulnerable = 0;
	char path[400], line[256];
	struct dirent *entry;
	DIR *dir = opendir("/sys/devices/system/cpu/vulnerabilities");

	if (!dir)
		return NULL;
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/vulnerabilities/%s",
			 entry->d_name);
		if (*entry->d_name == '.' || !read_line(path, line, sizeof(line)))
			continue;
		mitigated += strncmp(line, "Mitigation", 10) == 0;
		vulnerable += strncmp(line, "Vulnerable", 10) == 0;
	}
	closedir(dir);
	snprintf(line, sizeof(line), "%u on, %u off", mitigated, vulnerable);
	return result_text(result, line);
}

double machine_own_cpu(void)
{
	cpu_set_t set;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(set), &set) < 0 || CPU_COUNT(&set) != 1)
		return NAN;
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	return cpu;
}

void machine_read(struct result *result)
{
	struct machine *machine = &result->machine;
	struct utsname name;
	char text[256];
	time_t now = time(NULL);
	struct tm tm;

	machine->cpu = read_cpu(result);
	machine->processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
	machine->memory_bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	if (uname(&name) == 0) {
		snprintf(text, sizeof(text), "%s %s", name.release, name.machine);
		machine->kernel = result_text(result, text);
	}
	machine->virtual = read_virtual(result);
	if (read_line("/proc/loadavg", text, sizeof(text)) &&
	    sscanf(text, "%lf", &machine->load_before) != 1)
		machine->load_before = NAN;
	if (read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text, sizeof(text)))
		machine->governor = result_text(result, text);
	machine->mitigations = read_mitigations(result);
	if (gmtime_r(&now, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		result->when = result_text(result, text);
}

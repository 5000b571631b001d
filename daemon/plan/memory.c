/* daemon/plan/memory.c - what this machine and its cgroup leave for `auto`. */
#include <limits.h>
#include <sched.h>
#include <stdio.h>

#include "daemon/plan/build.h"

#define KIB 1024

/* A number from the first line of a small file that begins with `key`; -1 when there is none. */
static int64_t number_of(const char *path, const char *key)
{
	FILE *file = fopen(path, "re");
	char line[256];
	long long value = -1;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		if (sscanf(line + strlen(key), " %lld", &value) != 1)
			value = -1;
		break;
	}
	fclose(file);
	return value;
}

/* Our cgroup (version 2) below /sys/fs/cgroup, into `path`; false when there is none. */
static bool cgroup_path(char path[PATH_MAX])
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];
	bool is_found = false;

	if (!file)
		return false;
	while (!is_found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::/", 4) != 0)
			continue;
		is_found = snprintf(path, PATH_MAX, "/sys/fs/cgroup%s", line + 3) < PATH_MAX - 64;
	}
	fclose(file);
	return is_found;
}

/* The lowest memory.max from our cgroup up to the root; INT64_MAX when there is none. */
static int64_t cgroup_memory_max(void)
{
	char path[PATH_MAX];
	int64_t lowest = INT64_MAX;

	if (!cgroup_path(path))
		return INT64_MAX;
	while (strlen(path) >= strlen("/sys/fs/cgroup")) {
		size_t n = strlen(path);
		int64_t max;

		strcpy(path + n, "/memory.max");
		max = number_of(path, "");
		if (max > 0 && max < lowest)
			lowest = max;
		path[n] = '\0';
		*strrchr(path, '/') = '\0';
	}
	return lowest;
}

int64_t pl_memory_limit(void)
{
	int64_t available = number_of("/proc/meminfo", "MemAvailable:");
	int64_t limit = available > 0 ? available * KIB : (int64_t)1 << 30;
	int64_t cgroup = cgroup_memory_max();

	return (cgroup < limit ? cgroup : limit) / 4;
}

int pl_cpus_available(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		return CPU_COUNT(&set);
	return 1;
}

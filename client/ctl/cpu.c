/* client/ctl/cpu.c - CPU seconds of a process and all its descendants, from /proc. */
#include "client/ctl/ctl.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct process {
	int pid;
	int parent;
	double seconds;
	bool is_ours;
};

/* The fields of /proc/PID/stat behind the name, which may hold anything: state is the first of
 * them. */
static bool read_process(struct process *p, const char *pid)
{
	char path[64];
	char text[1024];
	unsigned long user;
	unsigned long system;
	const char *at;
	FILE *in;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	in = fopen(path, "re");
	if (!in)
		return false;
	n = fread(text, 1, sizeof(text) - 1, in);
	fclose(in);
	text[n] = '\0';
	at = strrchr(text, ')');
	p->pid = atoi(pid);
	p->is_ours = false;
	if (!at || sscanf(at + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &p->parent,
			   &user, &system) != 3)
		return false;
	p->seconds = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
	return true;
}

static struct process *read_all(size_t *n)
{
	struct process *list = NULL;
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	*n = 0;
	while (proc && (entry = readdir(proc))) {
		struct process one;
		struct process *grown;

		if (!isdigit((unsigned char)entry->d_name[0]) || !read_process(&one, entry->d_name))
			continue;
		grown = realloc(list, (*n + 1) * sizeof(*list));
		if (!grown)
			break;
		list = grown;
		list[(*n)++] = one;
	}
	if (proc)
		closedir(proc);
	return list;
}

static bool is_child(const struct process *list, size_t n, const struct process *p)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].is_ours && list[i].pid == p->parent)
			return true;
	return false;
}

double ctl_cpu_seconds(int pid)
{
	double total = 0;
	size_t n;
	struct process *list = read_all(&n);
	bool has_grown = true;

	for (size_t i = 0; i < n; i++)
		list[i].is_ours = list[i].pid == pid;
	while (has_grown) {
		has_grown = false;
		for (size_t i = 0; i < n; i++)
			if (!list[i].is_ours && is_child(list, n, &list[i]))
				has_grown = list[i].is_ours = true;
	}
	for (size_t i = 0; i < n; i++)
		total += list[i].is_ours ? list[i].seconds : 0;
	free(list);
	return total;
}

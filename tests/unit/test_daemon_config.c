/* tests/unit/test_daemon_config.c - the daemon's own file. */
#include "daemon/config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/sys/log.h"

/* Reads a file with this text; *told is what the diag says of it. */
static bool read_text(struct pl_config *config, const char *text, char **told)
{
	char path[] = "/tmp/pipeloader-config-XXXXXX";
	int fd = mkstemp(path);
	struct pl_diag *diag = pl_diag_create();
	bool is_good;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	is_good = pl_config_read(config, path, diag);
	*told = pl_diag_render(diag);
	pl_diag_destroy(diag);
	unlink(path);
	return is_good;
}

Test(daemon_config, every_key)
{
	struct pl_config c;
	char *told;

	cr_assert(read_text(&c,
		"pipelines: [a, /b]\nsocket: '@x'\nmemory_max: 2GiB\nprobe_timeout: "
		"2s\nlist_timeout: 1min\nlog: debug\n",
		&told));
	cr_expect_eq(c.pipelines.n, 2);
	cr_expect_str_eq(c.pipelines.v[1], "/b");
	cr_expect_str_eq(c.socket, "@x");
	cr_expect_eq(c.memory_max, (int64_t)2 << 30);
	cr_expect_eq(c.probe_timeout_ns, 2000000000);
	cr_expect_eq(c.list_timeout_ns, 60000000000);
	cr_expect_eq(c.log, PL_LOG_DEBUG);
	pl_config_finish(&c);
	free(told);
}

Test(daemon_config, defaults)
{
	struct pl_config c;
	char *told;

	cr_assert(read_text(&c, "log: warning\n", &told), "%s", told);
	cr_expect_eq(c.pipelines.n, 1);
	cr_expect_str_eq(c.pipelines.v[0], "/etc/pipeloaderd/pipelines");
	cr_expect_eq(c.memory_max, 0);
	cr_expect_eq(c.probe_timeout_ns, 60000000000);
	cr_expect_eq(c.list_timeout_ns, 3600000000000);
	pl_config_finish(&c);
	free(told);
}

Test(daemon_config, all_faults_at_once)
{
	struct pl_config c;
	char *told;

	cr_expect_not(read_text(&c, "pipeline: x\nmemory_max: lots\nlog: loud\n", &told));
	cr_expect(strstr(told, ":1:1: error: ") && strstr(told, "did you mean 'pipelines'?"), "%s",
		told);
	cr_expect(strstr(told, "memory_max") && strstr(told, "loud"), "%s", told);
	pl_config_finish(&c);
	free(told);
}

Test(daemon_config, a_file_that_is_not_there)
{
	struct pl_diag *diag = pl_diag_create();
	struct pl_config c;
	char *told;

	cr_expect_not(pl_config_read(&c, "/nonexistent/pipeloaderd.yaml", diag));
	told = pl_diag_render(diag);
	cr_expect(strstr(told, "/nonexistent/pipeloaderd.yaml") && strstr(told, "No such file"),
		"%s", told);
	pl_config_finish(&c);
	pl_diag_destroy(diag);
	free(told);
}

Test(daemon_config, the_example_says_the_defaults)
{
	const char *source = getenv("PL_SOURCE");
	struct pl_diag *diag = pl_diag_create();
	struct pl_config c, defaults;
	char path[4096], *told;

	cr_assert(read_text(&defaults, "log: info\n", &told));
	free(told);
	snprintf(path, sizeof(path), "%s/config/pipeloaderd.yaml", source ? source : ".");
	cr_assert(pl_config_read(&c, path, diag));
	cr_expect_eq(pl_diag_n_warnings(diag), 0);
	cr_expect_eq(c.pipelines.n, defaults.pipelines.n);
	cr_expect_str_eq(c.pipelines.v[0], defaults.pipelines.v[0]);
	cr_expect_eq(c.memory_max, defaults.memory_max);
	cr_expect_eq(c.probe_timeout_ns, defaults.probe_timeout_ns);
	cr_expect_eq(c.list_timeout_ns, defaults.list_timeout_ns);
	cr_expect_eq(c.log, defaults.log);
	pl_config_finish(&c);
	pl_config_finish(&defaults);
	pl_diag_destroy(diag);
}

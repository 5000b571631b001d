/* tests/unit/test_daemon_exit.c - how processes end, in words. */
#include "daemon/exit.h"

#include <criterion/criterion.h>

Test(daemon_exit, words)
{
	siginfo_t how = {.si_code = CLD_EXITED};
	char text[96];

	how.si_status = 3;
	cr_expect_str_eq(pl_exit_describe(text, sizeof(text), &how), "exited with status 3");
	how.si_code = CLD_KILLED;
	how.si_status = SIGSEGV;
	cr_expect_str_eq(pl_exit_describe(text, sizeof(text), &how),
		"was killed by SIGSEGV (Segmentation fault)");
	how.si_code = CLD_DUMPED;
	how.si_status = SIGABRT;
	cr_expect_str_eq(pl_exit_describe(text, sizeof(text), &how),
		"was killed by SIGABRT (Aborted), core dumped");
}

Test(daemon_exit, where_a_process_is)
{
	char text[160];

	pl_exit_where(text, sizeof(text), getpid());
	cr_expect(strncmp(text, "state R in ", 11) == 0, "%s", text);
	cr_expect_str_eq(pl_exit_where(text, sizeof(text), 4194304), "unknown");
}

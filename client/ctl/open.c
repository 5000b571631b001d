/* client/ctl/open.c - a stream as the command line wants it, and errors as people want them. */
#include "client/ctl/ctl.h"

#include <errno.h>
#include <string.h>

/* The errors of a pipeline file begin with its name; others say who speaks. */
int ctl_say(const struct pl_error *error)
{
	fflush(stdout);
	fprintf(stderr, "%s%s\n", error->exit_status == CTL_CONFIG ? "" : "pipeloaderctl: ",
		error->text[0] ? error->text : strerror(-error->code));
	return error->exit_status ? error->exit_status : CTL_FAILED;
}

void ctl_options(const struct ctl_line *line, struct pl_client_options *options)
{
	pl_client_options_init(options);
	options->socket = ctl_option(line, "--socket");
	options->params = line->set;
	options->n_params = line->n_set;
}

struct pl_client *ctl_open(
	const struct ctl_line *line, struct pl_client_options *options, int *status)
{
	static struct pl_error error;
	struct pl_client *client = pl_client_open(line->word[0], options, &error);

	if (!client)
		*status = ctl_say(&error);
	return client;
}

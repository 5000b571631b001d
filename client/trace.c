/* client/trace.c - the lines of `trace` steps, waiting in order. */
#include "client/room.h"

#include <errno.h>

struct pl_trace_line {
	struct pl_trace_line *next;
	char text[];
};

static struct pl_trace_line *take_first(struct pl_trace *trace)
{
	struct pl_trace_line *line = trace->first;

	if (!line)
		return NULL;
	trace->first = line->next;
	if (!trace->first)
		trace->last = NULL;
	trace->n--;
	return line;
}

int pl_trace_push(struct pl_trace *trace, const char *text)
{
	size_t n = strlen(text) + 1;
	struct pl_trace_line *line = malloc(sizeof(*line) + n);

	if (!line)
		return -ENOMEM;
	line->next = NULL;
	memcpy(line->text, text, n);
	if (trace->n == PL_TRACE_MAX)
		free(take_first(trace));
	if (trace->last)
		trace->last->next = line;
	else
		trace->first = line;
	trace->last = line;
	trace->n++;
	return 0;
}

const char *pl_trace_pop(struct pl_trace *trace)
{
	free(trace->shown);
	trace->shown = take_first(trace);
	return trace->shown ? trace->shown->text : NULL;
}

void pl_trace_finish(struct pl_trace *trace)
{
	while (pl_trace_pop(trace))
		;
}

/* daemon/sys/zsource.c - a 0MQ socket in an sd-event loop. */
#include "daemon/sys/zsource.h"

#include <errno.h>
#include <sys/epoll.h>

struct pl_zsource {
	struct pl_zsock *z;
	sd_event_source *edge;
	sd_event_source *defer;
	void (*ready)(void *context);
	void *context;
};

/* The edge itself means nothing: prepare looks. */
static int on_edge(sd_event_source *source, int fd, uint32_t events, void *context)
{
	return 0;
}

static int before_sleep(sd_event_source *source, void *context)
{
	struct pl_zsource *s = context;

	return pl_zsock_is_readable(s->z) ? sd_event_source_set_enabled(s->defer, SD_EVENT_ONESHOT)
					  : 0;
}

static int on_defer(sd_event_source *source, void *context)
{
	struct pl_zsource *s = context;

	s->ready(s->context);
	return 0;
}

int pl_zsource_create(struct pl_zsource **out, sd_event *loop, struct pl_zsock *z,
	void (*ready)(void *context), void *context)
{
	struct pl_zsource *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->z = z;
	s->ready = ready;
	s->context = context;
	r = sd_event_add_io(loop, &s->edge, pl_zsock_fd(z), EPOLLIN, on_edge, s);
	if (r >= 0)
		r = sd_event_add_defer(loop, &s->defer, on_defer, s);
	if (r >= 0)
		r = sd_event_source_set_prepare(s->edge, before_sleep);
	if (r < 0) {
		pl_zsource_destroy(s);
		return r;
	}
	*out = s;
	return 0;
}

void pl_zsource_destroy(struct pl_zsource *s)
{
	if (!s)
		return;
	sd_event_source_disable_unref(s->edge);
	sd_event_source_disable_unref(s->defer);
	free(s);
}

/* daemon/control.c - what supervisor and dispatcher tell each other. */
#include "daemon/control.h"

#include "proto/frame.h"

#include <errno.h>

int pl_control_send(int socket, const struct pl_control *c, int fd)
{
	return pl_frame_send(socket, c, sizeof(*c), fd);
}

int pl_control_receive(int socket, struct pl_control *c, int *fd)
{
	char frame[PL_FRAME_MAX];
	size_t n;
	int r = pl_frame_receive(socket, frame, &n, fd);

	if (r != 0)
		return r == PL_FRAME_REFUSED ? -EPROTO : r;
	if (n != sizeof(*c)) {
		if (*fd >= 0)
			close(*fd);
		*fd = -1;
		return -EPROTO;
	}
	memcpy(c, frame, sizeof(*c));
	c->text[sizeof(c->text) - 1] = '\0';
	return 0;
}

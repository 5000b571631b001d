/* proto/frame.c - one datagram with at most one descriptor on a local SEQPACKET socket. */
#include "proto/frame.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Room for more descriptors than are allowed, so that a second one is seen and closed. */
union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(4 * sizeof(int))];
};

int pl_frame_send(int socket, const void *bytes, size_t n, int fd)
{
	struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = n};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	union control control = {0};
	ssize_t r;

	if (n == 0 || n > PL_FRAME_MAX)
		return n ? -EMSGSIZE : -EINVAL; /* an empty datagram looks like the end */
	if (fd >= 0) {
		struct cmsghdr *head = &control.align;

		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(sizeof(int));
	}
	do {
		r = sendmsg(socket, &message, MSG_NOSIGNAL);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

/* Moves the first descriptor of the control data to *fd, closes the others; returns how many came.
 */
static size_t take_descriptors(struct msghdr *message, int *fd)
{
	size_t total = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		size_t n;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++, total++) {
			int one;

			memcpy(&one, CMSG_DATA(c) + i * sizeof(int), sizeof(one));
			if (total == 0)
				*fd = one;
			else
				close(one);
		}
	}
	return total;
}

/* Without a control buffer the kernel drops descriptors that come and says MSG_CTRUNC. */
static int receive(int socket, struct msghdr *message, int flags, size_t *n)
{
	ssize_t r;

	do {
		r = recvmsg(socket, message, flags | MSG_CMSG_CLOEXEC);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	if (message->msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		return PL_FRAME_REFUSED;
	if (r == 0)
		return PL_FRAME_END;
	*n = (size_t)r;
	return 0;
}

int pl_frame_receive(int socket, void *bytes, size_t *n, int *fd)
{
	struct iovec part = {.iov_base = bytes, .iov_len = PL_FRAME_MAX};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	union control control;
	int r;

	if (!fd)
		return receive(socket, &message, 0, n);
	*fd = -1;
	message.msg_control = control.bytes;
	message.msg_controllen = sizeof(control.bytes);
	r = receive(socket, &message, 0, n);
	if (r < 0)
		return r;
	if (take_descriptors(&message, fd) > 1 && r == 0)
		r = PL_FRAME_REFUSED;
	if (r && *fd >= 0)
		close(pl_steal_fd(fd));
	return r;
}

int pl_frame_peek(int socket, void *bytes, size_t *n)
{
	struct iovec part = {.iov_base = bytes, .iov_len = PL_FRAME_MAX};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	return receive(socket, &message, MSG_PEEK, n);
}

int pl_frame_address(struct sockaddr_un *address, unsigned *length, const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n + 1 > sizeof(address->sun_path))
		return n ? -ENAMETOOLONG : -EINVAL;
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(address->sun_path + (name[0] == '/' ? 0 : 1), name, n);
	*length = (unsigned)(offsetof(struct sockaddr_un, sun_path) + n + 1);
	return 0;
}

/* tests/unit/test_proto_frame.c - datagrams, descriptors, and what is refused. */
#include "proto/frame.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

static int ends[2];
static uint8_t buffer[PL_FRAME_MAX];

static void open_pair(void)
{
	int big = 4 * PL_FRAME_MAX;

	cr_assert_eq(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &big, sizeof(big));
}

static void close_pair(void)
{
	close(ends[0]);
	close(ends[1]);
}

TestSuite(frame, .init = open_pair, .fini = close_pair);

/* Sends one datagram with n descriptors, past pl_frame_send's rule of one. */
static void send_descriptors(int n)
{
	char bytes[CMSG_SPACE(8 * sizeof(int))] = {0};
	struct iovec part = {.iov_base = (char[]){'x'}, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct cmsghdr *head = (struct cmsghdr *)(void *)bytes;

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
	for (int i = 0; i < n; i++)
		memcpy(CMSG_DATA(head) + (size_t)i * sizeof(int), &ends[0], sizeof(int));
	message.msg_control = bytes;
	message.msg_controllen = CMSG_SPACE((size_t)n * sizeof(int));
	cr_assert_eq(sendmsg(ends[0], &message, 0), 1);
}

static int first_free_fd(void)
{
	int fd = dup(ends[0]);

	close(fd);
	return fd;
}

Test(frame, a_datagram_arrives_whole)
{
	size_t n = 0;

	cr_assert_eq(pl_frame_send(ends[0], "abc", 3, -1), 0);
	cr_assert_eq(pl_frame_send(ends[0], "de", 2, -1), 0);
	cr_assert_eq(pl_frame_peek(ends[1], buffer, &n), 0);
	cr_assert_eq(n, 3);
	cr_assert_eq(pl_frame_receive(ends[1], buffer, &n, NULL), 0);
	cr_assert_eq(n, 3);
	cr_assert_eq(memcmp(buffer, "abc", 3), 0);
	cr_assert_eq(pl_frame_receive(ends[1], buffer, &n, NULL), 0);
	cr_assert_eq(n, 2);
	cr_assert_eq(pl_frame_receive(ends[1], buffer, &n, NULL), -EAGAIN);
}

Test(frame, the_longest_datagram_fits_and_a_longer_one_is_refused)
{
	static uint8_t large[PL_FRAME_MAX + 1];
	size_t n = 0;

	cr_assert_eq(pl_frame_send(ends[0], large, PL_FRAME_MAX, -1), 0);
	cr_assert_eq(pl_frame_receive(ends[1], buffer, &n, NULL), 0);
	cr_assert_eq(n, PL_FRAME_MAX);
	cr_assert_eq(pl_frame_send(ends[0], large, sizeof(large), -1), -EMSGSIZE);
	cr_assert_eq(pl_frame_send(ends[0], large, 0, -1), -EINVAL);
	cr_assert_eq(send(ends[0], large, sizeof(large), 0), (ssize_t)sizeof(large));
	cr_assert_eq(pl_frame_receive(ends[1], buffer, &n, NULL), PL_FRAME_REFUSED);
}

Test(frame, a_closed_peer_is_the_end_and_never_a_signal)
{
	size_t n = 0;

	close(ends[0]);
	cr_assert_eq(pl_frame_receive(ends[1], buffer, &n, NULL), PL_FRAME_END);
	cr_assert_eq(pl_frame_peek(ends[1], buffer, &n), PL_FRAME_END);
	cr_assert_eq(pl_frame_send(ends[1], "x", 1, -1), -EPIPE);
	ends[0] = -1;
}

Test(frame, a_full_socket_says_again)
{
	int r = 0;

	for (int i = 0; i < 100000 && r == 0; i++)
		r = pl_frame_send(ends[0], "x", 1, -1);
	cr_assert_eq(r, -EAGAIN);
}

Test(frame, one_descriptor_comes_with_cloexec)
{
	size_t n = 0;
	int fd = -1;

	cr_assert_eq(pl_frame_send(ends[0], "x", 1, ends[0]), 0);
	cr_assert_eq(pl_frame_receive(ends[1], buffer, &n, &fd), 0);
	cr_assert_geq(fd, 0);
	cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	cr_assert_eq(pl_frame_send(ends[0], "x", 1, -1), 0);
	cr_assert_eq(pl_frame_receive(ends[1], buffer, &n, &fd), 0);
	cr_assert_eq(fd, -1);
}

Test(frame, more_descriptors_are_closed_and_refused)
{
	int before = first_free_fd();
	size_t n = 0;
	int fd = -1;

	for (int count = 2; count <= 8; count++) {
		send_descriptors(count);
		cr_assert_eq(pl_frame_receive(ends[1], buffer, &n, &fd), PL_FRAME_REFUSED);
		cr_assert_eq(fd, -1);
		cr_assert_eq(first_free_fd(), before);
	}
}

Test(frame, a_descriptor_where_none_is_allowed_is_refused)
{
	int before = first_free_fd();
	size_t n = 0;

	send_descriptors(1);
	cr_assert_eq(pl_frame_peek(ends[1], buffer, &n), PL_FRAME_REFUSED);
	cr_assert_eq(pl_frame_receive(ends[1], buffer, &n, NULL), PL_FRAME_REFUSED);
	cr_assert_eq(first_free_fd(), before);
	cr_assert_eq(pl_frame_receive(ends[1], buffer, &n, NULL), -EAGAIN);
}

Test(frame, addresses)
{
	struct sockaddr_un address;
	char name[200];
	unsigned n = 0;

	cr_assert_eq(pl_frame_address(&address, &n, "pipeloader/0/x"), 0);
	cr_assert_eq(n, offsetof(struct sockaddr_un, sun_path) + 15);
	cr_assert_eq(address.sun_path[0], '\0');
	cr_assert_eq(memcmp(address.sun_path + 1, "pipeloader/0/x", 14), 0);
	cr_assert_eq(pl_frame_address(&address, &n, "/run/x"), 0);
	cr_assert_str_eq(address.sun_path, "/run/x");
	memset(name, 'a', sizeof(name));
	name[107] = '\0';
	cr_assert_eq(pl_frame_address(&address, &n, name), 0);
	name[107] = 'a';
	name[108] = '\0';
	cr_assert_eq(pl_frame_address(&address, &n, name), -ENAMETOOLONG);
	cr_assert_eq(pl_frame_address(&address, &n, ""), -EINVAL);
}

/* client/place.c - where a pipeline's daemon is: a socket's path, or the meeting point of a job. */
#include "client/room.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define SYSTEM_SOCKET "/run/pipeloader/socket"

bool pl_place_is_file(const char *what)
{
	size_t n = strlen(what);

	return strchr(what, '/') || (n > 5 && strcmp(what + n - 5, ".yaml") == 0) ||
	       (n > 4 && strcmp(what + n - 4, ".yml") == 0);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "name=value" of each parameter, sorted, so that all processes of a job agree. */
static int take_settings(
	struct pl_place *place, const struct pl_client_options *options, struct pl_error *error)
{
	size_t n = options->n_params;

	if (n == 0)
		return 0;
	place->setting = calloc(n, sizeof(*place->setting));
	if (!place->setting)
		return pl_error_set(error, -ENOMEM, PL_EXIT_FAILED, "no memory");
	for (size_t i = 0; i < n; i++) {
		const struct pl_client_param *p = &options->params[i];

		if (!p->name || !p->value || !p->name[0] || strchr(p->name, '='))
			return pl_error_set(error, -EINVAL, PL_EXIT_USAGE,
				"parameter %zu is no name=value", i + 1);
		if (asprintf(&place->setting[i], "%s=%s", p->name, p->value) < 0) {
			place->setting[i] = NULL;
			return pl_error_set(error, -ENOMEM, PL_EXIT_FAILED, "no memory");
		}
		place->n_settings++;
	}
	qsort(place->setting, n, sizeof(*place->setting), compare);
	return 0;
}

/* FNV-1a of 128 bits; each text with its NUL, so that no two lists of texts run together. */
static void hash(unsigned __int128 *sum, const char *text)
{
	const unsigned __int128 prime = ((unsigned __int128)1 << 88) + 0x13b;
	const char *at = text;

	do {
		*sum = (*sum ^ (uint8_t)*at) * prime;
	} while (*at++);
}

/*
 * What all processes of one job have in common. torchrun without a rendezvous id says "none" to
 * every job, but gives each its own port; its workers have sessions of their own, so the session id
 * would tell them apart.
 */
static void job_id(char *out, size_t n)
{
	static const char *const names[] = {
		"PIPELOADER_JOB_ID", "SLURM_JOB_ID", "TORCHELASTIC_RUN_ID"};
	const char *port = getenv("MASTER_PORT");

	for (size_t i = 0; i < PL_ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);

		if (!value || !value[0])
			continue;
		snprintf(out, n, "%s", value);
		if (i == 2 && strcmp(value, "none") == 0 && port)
			snprintf(out, n, "none:%s", port);
		return;
	}
	snprintf(out, n, "sid:%ld", (long)getsid(0));
}

static void meeting_point(struct pl_place *place)
{
	unsigned __int128 sum = ((unsigned __int128)0x6c62272e07bb0142 << 64) | 0x62b821756295c58d;
	char text[256];

	snprintf(text, sizeof(text), "%lu", (unsigned long)getuid());
	hash(&sum, text);
	hash(&sum, place->pipeline);
	for (size_t i = 0; i < place->n_settings; i++)
		hash(&sum, place->setting[i]);
	job_id(text, sizeof(text));
	hash(&sum, text);
	snprintf(place->socket, sizeof(place->socket), "pipeloader/%lu/%016llx%016llx",
		(unsigned long)getuid(), (unsigned long long)(sum >> 64), (unsigned long long)sum);
}

/* "@name" is an abstract socket; a relative path is made absolute, as pl_frame_address wants it. */
static int take_socket(struct pl_place *place, const char *socket, struct pl_error *error)
{
	char here[PATH_MAX];
	int n;

	if (socket[0] == '@' || socket[0] == '/')
		n = snprintf(place->socket, sizeof(place->socket), "%s", socket + (*socket == '@'));
	else if (getcwd(here, sizeof(here)))
		n = snprintf(place->socket, sizeof(place->socket), "%s/%s", here, socket);
	else
		return pl_error_set(
			error, -errno, PL_EXIT_USAGE, "socket '%s': %s", socket, strerror(errno));
	if (n <= (socket[0] != '@' && socket[0] != '/' ? 1 : 0) || n > 107)
		return pl_error_set(error, -ENAMETOOLONG, PL_EXIT_USAGE,
			"socket '%s': a socket's name has 1 to 107 bytes", socket);
	return 0;
}

static int find_file(struct pl_place *place, const char *what, struct pl_error *error)
{
	struct stat st;

	if (realpath(what, place->pipeline)) {
		if (stat(place->pipeline, &st) == 0 && S_ISDIR(st.st_mode))
			return pl_error_set(error, -EISDIR, PL_EXIT_CONFIG,
				"%s: it is a folder, not a pipeline file", what);
		return 0;
	}
	return pl_error_set(error, -errno, PL_EXIT_CONFIG, "%s: %s", what, strerror(errno));
}

static int take_file(struct pl_place *place, const char *what, const char *socket,
	const struct pl_client_options *options, struct pl_error *error)
{
	int r = find_file(place, what, error);

	if (r)
		return r;
	if (socket && options->n_params)
		return pl_error_set(error, -EINVAL, PL_EXIT_USAGE,
			"parameters can't be set: the daemon at '%s' has its own", socket);
	r = take_settings(place, options, error);
	if (r)
		return r;
	if (socket)
		return take_socket(place, socket, error);
	place->is_job = true;
	meeting_point(place);
	return 0;
}

int pl_place_init(struct pl_place *place, const char *what, const struct pl_client_options *options,
	struct pl_error *error)
{
	const char *socket = options->socket ? options->socket : getenv("PIPELOADER_SOCKET");
	int r;

	memset(place, 0, sizeof(*place));
	if (socket && !socket[0])
		socket = NULL;
	if (what && pl_place_is_file(what)) {
		r = take_file(place, what, socket, options, error);
	} else if (options->n_params) {
		r = pl_error_set(error, -EINVAL, PL_EXIT_USAGE,
			"parameters are for pipeline files; '%s' is a configured name",
			what ? what : "");
	} else {
		snprintf(place->pipeline, sizeof(place->pipeline), "%s", what ? what : "");
		r = take_socket(place, socket ? socket : SYSTEM_SOCKET, error);
	}
	if (r)
		pl_place_finish(place);
	return r;
}

void pl_place_finish(struct pl_place *place)
{
	for (size_t i = 0; i < place->n_settings; i++)
		free(place->setting[i]);
	free(place->setting);
	place->setting = NULL;
	place->n_settings = 0;
}

/* Anybody can bind an abstract name: the peer must be us, or root where the name was given by hand.
 */
static int check_peer(const struct pl_place *place, int fd)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	if (place->socket[0] == '/')
		return 0;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0)
		return -errno;
	if (peer.uid == getuid() || (peer.uid == 0 && !place->is_job))
		return 0;
	return -EPERM;
}

int pl_place_connect(const struct pl_place *place)
{
	PL_AUTO_CLOSE int fd = -1;
	struct sockaddr_un address;
	unsigned n;
	int r = pl_frame_address(&address, &n, place->socket);

	if (r)
		return r;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, n) < 0)
		return errno == EINPROGRESS ? -EAGAIN : -errno;
	r = check_peer(place, fd);
	return r ? r : pl_steal_fd(&fd);
}

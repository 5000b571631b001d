/* daemon/allow.c - who may open a pipeline. */
#include "daemon/allow.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/socket.h>

static bool number_of(const char *text, uint32_t *id)
{
	char *end;
	unsigned long v;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (*end || errno || v >= UINT32_MAX)
		return false;
	*id = (uint32_t)v;
	return true;
}

static bool user_of(const char *name, uint32_t *id)
{
	const struct passwd *user;

	if (number_of(name, id))
		return true;
	user = getpwnam(name);
	if (user)
		*id = user->pw_uid;
	return user != NULL;
}

static bool group_of(const char *name, uint32_t *id)
{
	const struct group *group;

	if (number_of(name, id))
		return true;
	group = getgrnam(name);
	if (group)
		*id = group->gr_gid;
	return group != NULL;
}

static uint32_t resolve(const char *name, uint32_t *id)
{
	*id = 0;
	if (strcmp(name, "*") == 0)
		return PL_ALLOW_EVERYBODY;
	if (name[0] == '@')
		return group_of(name + 1, id) ? PL_ALLOW_GROUP : 0;
	return user_of(name, id) ? PL_ALLOW_USER : 0;
}

void pl_allow_resolve(
	struct pl_allow *allow, const struct pl_param_texts *names, char *unknown, size_t n)
{
	size_t at = 0;

	*allow = (struct pl_allow){0};
	unknown[0] = '\0';
	for (int i = 0; i < names->n && i < PL_PARAM_LIST_MAX; i++) {
		uint32_t id, kind = resolve(names->v[i], &id);

		if (kind) {
			allow->entry[allow->n].kind = kind;
			allow->entry[allow->n++].id = id;
		} else if (at < n) {
			at += (size_t)snprintf(
				unknown + at, n - at, "%s'%s'", at ? ", " : "", names->v[i]);
		}
	}
}

static bool is_in_group(const struct pl_peer *peer, uint32_t gid)
{
	if (peer->gid == gid)
		return true;
	for (int i = 0; i < peer->n_groups; i++)
		if (peer->groups[i] == gid)
			return true;
	return false;
}

bool pl_allow_holds(const struct pl_allow *allow, const struct pl_peer *peer, uint32_t own_uid)
{
	if (peer->uid == PL_UID_NOBODY || peer->uid == UINT32_MAX)
		return false;
	if (peer->uid == 0 || peer->uid == own_uid)
		return true;
	for (uint32_t i = 0; i < allow->n && i < PL_PARAM_LIST_MAX; i++) {
		if (allow->entry[i].kind == PL_ALLOW_EVERYBODY)
			return true;
		if (allow->entry[i].kind == PL_ALLOW_USER && allow->entry[i].id == peer->uid)
			return true;
		if (allow->entry[i].kind == PL_ALLOW_GROUP && is_in_group(peer, allow->entry[i].id))
			return true;
	}
	return false;
}

/* A peer in more groups than fit is judged by its first ones; one whose groups can't be read, by
 * its own alone. */
int pl_peer_read(struct pl_peer *peer, int socket)
{
	struct ucred cred;
	socklen_t n = sizeof(cred);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &cred, &n) < 0)
		return -errno;
	peer->uid = cred.uid;
	peer->gid = cred.gid;
	peer->pid = (uint32_t)cred.pid;
	n = sizeof(peer->groups);
	peer->n_groups = 0;
	if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, peer->groups, &n) == 0)
		peer->n_groups = (int)(n / sizeof(gid_t));
	return 0;
}

/* daemon/allow.h - who may open a pipeline. */
#pragma once

#include "daemon/plan/plan.h"

#include <sys/types.h>

#define PL_UID_NOBODY 65534 /* what the kernel says of users that don't exist here */

enum pl_allow_kind { PL_ALLOW_USER = 1, PL_ALLOW_GROUP, PL_ALLOW_EVERYBODY };

/* `serve: allow` with numbers for names. Travels from the probe to the supervisor as it is. */
struct pl_allow {
	uint32_t n;
	struct {
		uint32_t kind;
		uint32_t id;
	} entry[PL_PARAM_LIST_MAX];
};

/* The other end of a local socket, as the kernel knows it. */
struct pl_peer {
	uint32_t uid;
	uint32_t gid;
	uint32_t pid; /* for people only: 0 or another process's across containers */
	int n_groups;
	gid_t groups[256];
};

/*
 * Looks the names up (a user, @group, a number of either, "*"); asks the name service, so it may
 * block: for the probe. Names that nobody has are left out and written to `unknown` (n bytes),
 * separated by ", ".
 */
void pl_allow_resolve(
	struct pl_allow *allow, const struct pl_param_texts *names, char *unknown, size_t n);

/* Root, the daemon's own uid, and who is allowed; uid 65534 never. */
bool pl_allow_holds(const struct pl_allow *allow, const struct pl_peer *peer, uint32_t own_uid);

/* Asks the kernel. 0 or -errno. */
int pl_peer_read(struct pl_peer *peer, int socket) PL_MUST_CHECK;

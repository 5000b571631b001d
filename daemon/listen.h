/* daemon/listen.h - the listening socket, and what a new connection's first datagram says. */
#pragma once

#include "daemon/visitor.h"

/*
 * Finds the socket to listen on: handed in by the service manager or a job's starter, else
 * options->socket, $PIPELOADER_SOCKET or the default path, which is made here. 0 or -errno with
 * err.
 */
int pl_listen_open(struct pl_supervisor *s, struct pl_err *err) PL_MUST_CHECK;

/* From now on connections are accepted. 0 or -errno. */
int pl_listen_start(struct pl_supervisor *s) PL_MUST_CHECK;

/* Accepts again after a shortage of descriptors. */
void pl_listen_resume(struct pl_supervisor *s);

/* A new visitor has spoken: it waits, is answered, or is refused. */
void pl_listen_hear(struct pl_visitor *v);

/*
 * Ends listening so that nobody who connected is lost: whoever got in meanwhile is accepted, and
 * then, if the name is still to be had, listening goes on. True: nobody was there, and nobody can
 * connect any more.
 */
bool pl_listen_leave(struct pl_supervisor *s);

/* Closes the socket; removes a path that we made. */
void pl_listen_close(struct pl_supervisor *s);

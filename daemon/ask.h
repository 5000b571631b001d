/* daemon/ask.h - questions to the supervisor itself: status, graph, errors, reload, stop, hold. */
#pragma once

#include "daemon/visitor.h"
#include "proto/wire.h"

/* Answers, or keeps the visitor until there is an answer. Borrows ask for the call. */
void pl_ask_hear(struct pl_visitor *v, const struct pl_wire_ask *ask);

/* The reload is over: who waited for it is told what was refused. */
void pl_ask_reloaded(struct pl_supervisor *s);

/* Kills graphs that still run. */
void pl_ask_finish(struct pl_supervisor *s);

/* daemon/graph.h - the graph of a pipeline that runs: a child draws it, for the supervisor reads no
 * plan. */
#pragma once

#include "daemon/pipeline.h"

/* Starts the child; the visitor is answered when it is done. `format`: text, dot or json; "" =
 * text. */
void pl_graph_draw(struct pl_visitor *v, struct pl_pipeline *p, const char *format);

/* Kills those that still draw. */
void pl_graph_finish(struct pl_supervisor *s);

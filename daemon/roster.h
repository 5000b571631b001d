/* daemon/roster.h - which pipeline files there are. */
#pragma once

#include "daemon/supervisor.h"

/*
 * Reads the daemon's own file (if it has one) and the folders, and brings the list of pipelines to
 * what is there: files that are new become pipelines, known ones are probed again, those that are
 * gone lose their pipeline. A file or folder that can't be read is logged, and changes nothing.
 * False: the daemon's own file is broken, which was logged in full; nothing was changed then.
 */
bool pl_roster_read(struct pl_supervisor *s);

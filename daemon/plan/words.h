/* daemon/plan/words.h - libyaml's problems told in plain words. */
#pragma once

#include "daemon/plan/diag.h"

/* What libyaml said. A place with line 0 isn't there. */
struct pl_yaml_problem {
	const char *problem;
	const char *context;
	struct pl_place problem_at;
	struct pl_place context_at;
};

/* Adds the error, and a note for the second place where that helps. */
void pl_yaml_tell(struct pl_diag *diag, const struct pl_yaml_problem *problem);

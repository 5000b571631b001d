/* daemon/plan/names.h - names of the language that this release doesn't have. */
#pragma once

#include "proto/base.h"

/* "not in this release", "not in this build yet", or NULL when the language has no step (source,
 * parameter, setting) of that name. */
const char *pl_names_later_step(const char *name);
const char *pl_names_later_source(const char *name);
const char *pl_names_later_param(const char *owner, const char *key);
const char *pl_names_later_setting(const char *name);

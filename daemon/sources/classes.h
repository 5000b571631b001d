/* daemon/sources/classes.h - the class names of a source, in label order. */
#pragma once

#include "proto/err.h"

struct pl_classes {
	char **name;      /* by label */
	uint32_t *sorted; /* labels in the byte order of their names; NULL until pl_classes_sort */
	uint32_t n;
	uint32_t room;
};

void pl_classes_finish(struct pl_classes *c);

/* One more class, with the next label; copies the name. 0 or -ENOMEM. */
int pl_classes_add(struct pl_classes *c, const char *name) PL_MUST_CHECK;

/* Gives the labels in the byte order of the names: what `classes` says when it is not given. */
void pl_classes_number_by_name(struct pl_classes *c);

/*
 * Reads one name a line; the line's number, from 0, is the label. Blocks on the file. 0 or -errno
 * with err: a file that can't be read or is larger than 16 MiB, a line that is empty or there
 * twice, a NUL, no line at all.
 */
int pl_classes_read(struct pl_classes *c, const char *path, struct pl_err *err) PL_MUST_CHECK;

/* Prepares pl_classes_find. 0, -ENOMEM, or -EEXIST with *twice set when two classes have one name.
 */
int pl_classes_sort(struct pl_classes *c, const char **twice) PL_MUST_CHECK;

/* The label of that name, or -1. */
int64_t pl_classes_find(const struct pl_classes *c, const char *name);

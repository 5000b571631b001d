/* tests/unit/param_at.h - a parameter of a step or source by its key. */
#pragma once

#include <criterion/criterion.h>

#include "daemon/kit/param.h"

__attribute__((unused)) static void *param_at(
	const struct pl_param *table, void *params, const char *key)
{
	for (; table && table->key; table++)
		if (!strcmp(table->key, key))
			return (char *)params + table->offset;
	cr_assert_fail("no parameter '%s'", key);
	return NULL;
}

#define PARAM(type, table, params, key) (*(type *)param_at(table, params, key))

#define expect_text(text, part)                                                                    \
	cr_expect(strstr(text, part) != NULL, "'%s' is not in '%s'", part, text)

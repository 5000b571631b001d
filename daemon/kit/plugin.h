/* daemon/kit/plugin.h - steps and sources from shared objects: what one exports, and how they are
 * loaded. */
#pragma once

#include "daemon/kit/param.h"
#include "daemon/kit/source.h"

#define PL_PLUGIN_ABI 1

/*
 * A plugin is a shared object that includes the headers of daemon/kit and exports two constants:
 *
 *	const uint32_t pl_plugin_abi = PL_PLUGIN_ABI;
 *	const struct pl_plugin pl_plugin = {.size = sizeof(struct pl_plugin), .name = "twice", ...};
 *
 * It calls the functions of daemon/kit, proto/err.h and proto/tensor by their names; the daemon
 * has them. Its steps and sources obey the same rules as built-in ones (daemon/kit/op.h): they
 *touch no global, start no thread and block on nothing but their data. Everything it exports must
 *stay as it is for the life of the process.
 */
struct pl_plugin {
	uint32_t size; /* sizeof(struct pl_plugin) */
	const char *name;
	const struct pl_op *const *ops; /* any order; NULL when n_ops is 0 */
	size_t n_ops;
	const struct pl_source_op *const *sources;
	size_t n_sources;
};

/*
 * Opens each (RTLD_NOW, RTLD_LOCAL), checks abi, then size, then every declaration, and publishes
 * one registry of all there is. For every process that runs steps, before it does; never for the
 * supervisor, as a plugin may start threads in its constructors. Any number of threads may call it
 * at once with the same list; later calls with it change nothing. 0; -EINVAL with err: a path that
 * isn't absolute, an object that can't be loaded, another abi or size, a broken declaration, a name
 * that is taken; -EEXIST with err: other plugins were loaded before; -ENOMEM.
 */
int pl_plugins_load(const struct pl_param_texts *paths, struct pl_err *err) PL_MUST_CHECK;

/* daemon/plan/fingerprint.c - six hashes that tell whether a token still fits a plan. */
#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

#include "daemon/plan/build.h"
#include "daemon/plan/params.h"

/*
 * Each part is written out as a text that only holds what can change a byte of the output, then
 * hashed. Values are the converted ones, so a definition, a parameter or another spelling of a
 * number changes nothing; steps that only show or delay (class debug) aren't there at all.
 */
enum { PART_SEED, PART_SOURCE, PART_LISTING, PART_PRE, PART_WORKERS, PART_POST };

struct canonical {
	FILE *out;
	char *text;
	size_t n;
};

static bool canonical_begin(struct canonical *c)
{
	*c = (struct canonical){0};
	c->out = open_memstream(&c->text, &c->n);
	return c->out != NULL;
}

static uint32_t canonical_end(struct canonical *c)
{
	uint32_t hash = 0;

	if (fclose(c->out) == 0)
		hash = (uint32_t)XXH3_64bits(c->text, c->n);
	free(c->text);
	return hash;
}

static void write_list(FILE *out, const struct pl_plan *plan, const struct pl_step_list *list);

static void write_step(FILE *out, const struct pl_plan *plan, const struct pl_step *step)
{
	if (strcmp(step->op->class_, "debug") == 0)
		return;
	fprintf(out, "step %s %" PRIu32 " %a %d %" PRIx64 " %s\n", step->op->name,
		step->op->version, step->p, step->draws_each, step->place, step->view);
	pl_params_canonical(out, step->op->params, step->params);
	for (int i = 0; i < step->n; i++)
		fprintf(out, "field %s %s\n", plan->field_name[step->in[i]],
			plan->field_name[step->out[i]]);
	for (int i = 0; i < step->n_lists; i++) {
		fprintf(out, "list %a {\n", step->list[i].weight);
		write_list(out, plan, &step->list[i]);
		fputs("}\n", out);
	}
}

static void write_list(FILE *out, const struct pl_plan *plan, const struct pl_step_list *list)
{
	for (int i = 0; i < list->n; i++)
		write_step(out, plan, &list->step[i]);
}

static void hash_list(struct pl_plan *plan, const struct pl_step_list *list, int part)
{
	struct canonical c;

	if (!canonical_begin(&c))
		return;
	write_list(c.out, plan, list);
	plan->fingerprint[part] = canonical_end(&c);
}

static void hash_source(struct pl_plan *plan)
{
	const struct pl_source_use *use = &plan->source;
	struct canonical c;

	if (!canonical_begin(&c))
		return;
	fprintf(c.out, "source %s %" PRIu32 " %s\n", use->op->name, use->op->version, use->name);
	pl_params_canonical(c.out, use->op->params, use->params);
	plan->fingerprint[PART_SOURCE] = canonical_end(&c);
}

void pl_fingerprint(struct pl_build *b)
{
	struct pl_plan *plan = b->plan;

	plan->fingerprint[PART_SEED] = (uint32_t)XXH3_64bits(&plan->seed, sizeof(plan->seed));
	plan->fingerprint[PART_LISTING] = 0;
	hash_source(plan);
	hash_list(plan, &plan->pre, PART_PRE);
	hash_list(plan, &plan->worker, PART_WORKERS);
	hash_list(plan, &plan->post, PART_POST);
}

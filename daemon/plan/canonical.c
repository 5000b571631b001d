/* daemon/plan/canonical.c - converted parameters as one text: equal values, equal bytes. */
#include <inttypes.h>

#include "daemon/kit/source.h"
#include "daemon/plan/params.h"

static void write_text(FILE *out, const char *text)
{
	fprintf(out, "%zu:%s", text ? strlen(text) : 0, text ? text : "");
}

static void write_values(FILE *out, const struct pl_param_values *v)
{
	fprintf(out, "%d %" PRId64, (int)v->dtype, v->n);
	for (int64_t i = 0; i < v->n; i++) {
		if (v->dtype == PL_I64)
			fprintf(out, " %" PRId64, v->integers[i]);
		else if (v->dtype == PL_F64)
			fprintf(out, " %a", v->floats[i]);
		else
			write_text(out, v->texts[i]);
	}
}

static void write_table(FILE *out, const struct pl_param_table *table)
{
	for (int64_t i = 0; i < table->n; i++) {
		write_text(out, table->entry[i].text);
		fprintf(out, " %" PRId64 " ", table->entry[i].number);
	}
}

static void write_list(FILE *out, const struct pl_param *p, const void *member)
{
	const struct pl_param_floats *floats = member;
	const struct pl_param_ints *ints = member;
	const struct pl_param_texts *texts = member;
	const struct pl_param_map *map = member;
	const struct pl_param_text_map *text_map = member;

	if (p->kind == PL_PARAM_FLOATS)
		for (int i = 0; i < floats->n; i++)
			fprintf(out, "%a ", floats->v[i]);
	if (p->kind == PL_PARAM_INTS)
		for (int i = 0; i < ints->n; i++)
			fprintf(out, "%" PRId64 " ", ints->v[i]);
	if (p->kind == PL_PARAM_TEXTS)
		for (int i = 0; i < texts->n; i++)
			write_text(out, texts->v[i]);
	if (p->kind == PL_PARAM_TEXT_MAP) {
		for (int i = 0; i < text_map->n; i++) {
			write_text(out, text_map->v[i].key);
			write_text(out, text_map->v[i].text);
		}
	}
	if (p->kind == PL_PARAM_MAP) {
		for (int i = 0; i < map->n; i++) {
			write_text(out, map->v[i].key);
			fprintf(out, " %a ", map->v[i].value);
		}
	}
}

static void write_sources(FILE *out, const struct pl_param_sources *sources)
{
	for (int i = 0; i < sources->n; i++) {
		const struct pl_source_part *part = &sources->v[i];

		fprintf(out, "{%s %" PRIu32 " %s %a\n", part->op->name, part->op->version,
			part->name, part->weight);
		pl_params_canonical(out, part->op->params, part->params);
		fputs("}\n", out);
	}
}

static void write_member(FILE *out, const struct pl_param *p, const void *member)
{
	const struct pl_param_size *size = member;
	const struct pl_param_range *range = member;

	switch (p->kind) {
	case PL_PARAM_INT:
	case PL_PARAM_BYTES:
	case PL_PARAM_DURATION:
		fprintf(out, "%" PRId64, *(const int64_t *)member);
		break;
	case PL_PARAM_FLOAT:
		fprintf(out, "%a", *(const double *)member);
		break;
	case PL_PARAM_BOOL:
		fprintf(out, "%d", *(const bool *)member);
		break;
	case PL_PARAM_TEXT:
	case PL_PARAM_EXPR:
		write_text(out, *(const char *const *)member);
		break;
	case PL_PARAM_CHOICE:
		write_text(out, p->choices[*(const int *)member]);
		break;
	case PL_PARAM_DTYPE:
		fputs(pl_dtype_name(*(const enum pl_dtype *)member), out);
		break;
	case PL_PARAM_SIZE:
		fprintf(out, "%d %" PRId64 " %" PRId64, size->is_given, size->height, size->width);
		break;
	case PL_PARAM_RANGE:
		fprintf(out, "%a %a", range->low, range->high);
		break;
	case PL_PARAM_VALUES:
		write_values(out, member);
		break;
	case PL_PARAM_TABLE:
		write_table(out, member);
		break;
	case PL_PARAM_FLOATS:
	case PL_PARAM_INTS:
	case PL_PARAM_TEXTS:
	case PL_PARAM_MAP:
	case PL_PARAM_TEXT_MAP:
		write_list(out, p, member);
		break;
	case PL_PARAM_STEPS:
	case PL_PARAM_BRANCHES:
		break;
	case PL_PARAM_SOURCES:
		write_sources(out, member);
		break;
	}
}

void pl_params_canonical(FILE *out, const struct pl_param *table, const void *params)
{
	for (; table && table->key; table++) {
		if (table->is_tuning || table->kind == PL_PARAM_STEPS ||
			table->kind == PL_PARAM_BRANCHES)
			continue;
		fprintf(out, "%s=", table->key);
		write_member(out, table, (const char *)params + table->offset);
		fputc('\n', out);
	}
}

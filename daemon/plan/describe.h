/* daemon/plan/describe.h - parts of a plan in words, shared by all forms of `graph`. */
#pragma once

#include "daemon/plan/dump.h"

/* "pre_main", "workers", "post_main". */
const char *pl_describe_stage(enum pl_stage stage);

/* The step's obvious parameter as people write it ("224", "h w c -> c h w"), or "". */
char *pl_describe_value(const struct pl_step *step, char *out, size_t n);

/* "one pass: 3-4" for a step that shares its pass over the data with others, else "". */
char *pl_describe_pass(const struct pl_step *step, char *out, size_t n);

/* How the field comes to its place in the batch: "written by 'rearrange' straight into its row
 * (zero copy)". */
char *pl_describe_way(const struct pl_plan *plan, const struct pl_delivery *d, char *out, size_t n);
bool pl_describe_is_zero_copy(const struct pl_plan *plan, const struct pl_delivery *d);

/* The delivery of a field, or NULL: post-main makes it. */
const struct pl_delivery *pl_describe_delivery(const struct pl_plan *plan, int field);

/* The type a client sees: with the batch axis in front where there is one; -1 where it varies. */
struct pl_type pl_describe_result(const struct pl_plan *plan, const struct pl_result_field *r);

/* Rate (samples a second) and share of all steps' time, in [0, 1], of a step of a running pipeline.
 */
double pl_describe_rate(const struct pl_dump_live *live, int id);
double pl_describe_share(const struct pl_plan *plan, const struct pl_dump_live *live, int id);

/* dump.h's forms, one file each. */
void pl_dump_text(FILE *out, const struct pl_plan *plan, const struct pl_dump_live *live);
void pl_dump_dot(FILE *out, const struct pl_plan *plan, const struct pl_dump_live *live);
int pl_dump_json(FILE *out, const struct pl_plan *plan, const struct pl_dump_live *live);

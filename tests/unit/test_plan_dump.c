/* tests/unit/test_plan_dump.c - graph, ops, sources and schema as people and tools see them. */
#include <jansson.h>

#include "daemon/kit/registry.h"
#include "daemon/plan/dump.h"
#include "tests/unit/plan_harness.h"

/* With PL_WRITE_EXPECT=1 the frozen texts are written instead, to be read before they are
 * committed. */
static void compare_with_file(const char *path, const char *text)
{
	char *wanted;

	if (getenv("PL_WRITE_EXPECT")) {
		write_text(path, text);
		return;
	}
	wanted = read_text(path, NULL);
	cr_assert_str_eq(text, wanted, "%s\n--- expected\n%s--- got\n%s", path, wanted, text);
	free(wanted);
}

struct buffer {
	FILE *out;
	char *text;
	size_t n;
};

static void buffer_begin(struct buffer *b)
{
	*b = (struct buffer){0};
	b->out = open_memstream(&b->text, &b->n);
	cr_assert_not_null(b->out);
}

static char *buffer_end(struct buffer *b)
{
	fclose(b->out);
	return b->text;
}

static char *dump_of(
	const struct pl_plan *plan, enum pl_dump_format format, const struct pl_dump_live *live)
{
	struct buffer b;

	buffer_begin(&b);
	cr_assert_eq(pl_dump_plan(b.out, plan, format, live), 0);
	return buffer_end(&b);
}

static struct pl_plan *golden_plan(const char *name)
{
	char below[128];
	struct plan_reading r;

	snprintf(below, sizeof(below), "tests/golden/graph/%s.yaml", name);
	r = plan_read(source_path(below));
	cr_assert_not_null(r.plan, "%s", r.messages);
	free(r.messages);
	return r.plan;
}

static void compare_graph(const char *name)
{
	static const char *const ending[] = {"txt", "dot"};
	struct pl_plan *plan = golden_plan(name);

	for (int format = PL_DUMP_TEXT; format <= PL_DUMP_DOT; format++) {
		char *text = dump_of(plan, (enum pl_dump_format)format, NULL);
		char below[128];

		snprintf(below, sizeof(below), "tests/golden/graph/%s.%s", name, ending[format]);
		compare_with_file(source_path(below), text);
		free(text);
	}
	pl_plan_destroy(plan);
}

Test(plan_dump, graph_of_photos)
{
	compare_graph("photos");
}

Test(plan_dump, graph_of_views_and_branches)
{
	compare_graph("views");
}

Test(plan_dump, graph_of_ragged_fields)
{
	compare_graph("ragged");
}

Test(plan_dump, graph_of_a_sequential_pipeline)
{
	compare_graph("sequential");
}

Test(plan_dump, a_running_pipeline_shows_pids_rates_and_shares)
{
	static const int pids[] = {4711, 4712};
	uint64_t ns[PL_STEPS_MAX] = {0, 750000000, 250000000};
	uint64_t count[PL_STEPS_MAX] = {0, 1000, 1000};
	struct pl_dump_live live = {99, 2, pids, ns, count, 2.0};
	struct pl_plan *plan = golden_plan("photos");
	char *text = dump_of(plan, PL_DUMP_TEXT, &live);

	cr_assert_not_null(strstr(text, "dispatcher, pid 99: pre_main"), "%s", text);
	cr_assert_not_null(strstr(text, ", pid 4711 4712: workers"), "%s", text);
	cr_assert_not_null(strstr(text, "     500/s  75.0%  decode_image"), "%s", text);
	free(text);
	text = dump_of(plan, PL_DUMP_DOT, &live);
	cr_assert_not_null(strstr(text, "500/s, 25.0%"), "%s", text);
	free(text);
	pl_plan_destroy(plan);
}

static json_t *parsed(const char *text)
{
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	cr_assert_not_null(root, "%s at %d: %s", error.text, error.line, text);
	return root;
}

Test(plan_dump, json_of_photos)
{
	struct pl_plan *plan = golden_plan("photos");
	char *text = dump_of(plan, PL_DUMP_JSON, NULL);
	json_t *root = parsed(text);
	json_t *stages = json_object_get(root, "stages");
	json_t *steps = json_object_get(json_array_get(stages, 1), "steps");
	json_t *image = json_array_get(json_object_get(root, "results"), 1);

	cr_assert_str_eq(json_string_value(json_object_get(root, "name")), "photos");
	cr_assert_eq(json_array_size(stages), 3);
	cr_assert_str_eq(
		json_string_value(json_object_get(json_array_get(stages, 1), "process")), "worker");
	cr_assert_eq(json_array_size(steps), 5);
	cr_assert_str_eq(
		json_string_value(json_object_get(json_array_get(steps, 4), "name")), "rearrange");
	cr_assert_str_eq(json_string_value(json_object_get(root, "fuse")), "on");
	cr_assert_null(json_object_get(json_array_get(steps, 2), "pass"));
	for (size_t i = 3; i < 5; i++) /* one pass, named by its first step */
		cr_assert_eq(json_integer_value(json_object_get(json_array_get(steps, i), "pass")),
			json_integer_value(json_object_get(json_array_get(steps, 3), "id")));
	cr_assert(json_is_true(json_object_get(image, "zero_copy")));
	cr_assert_str_eq(json_string_value(json_object_get(image, "name")), "image");
	cr_assert_eq(json_integer_value(json_array_get(json_object_get(image, "shape"), 0)), 64);
	json_decref(root);
	free(text);
	pl_plan_destroy(plan);
}

static void check_listing(void (*dump)(FILE *out, bool is_json), size_t n, const char *name)
{
	struct buffer b;
	json_t *root;
	char *text;

	buffer_begin(&b);
	dump(b.out, true);
	text = buffer_end(&b);
	root = parsed(text);
	cr_assert_eq(json_array_size(root), n);
	for (size_t i = 0; i < n; i++) {
		json_t *entry = json_array_get(root, i);

		cr_assert_not_null(json_string_value(json_object_get(entry, "help")));
		cr_assert(json_is_array(json_object_get(entry, "params")));
	}
	json_decref(root);
	free(text);
	buffer_begin(&b);
	dump(b.out, false);
	text = buffer_end(&b);
	cr_assert_not_null(strstr(text, name), "%s", text);
	free(text);
}

Test(plan_dump, every_step_and_source_is_listed)
{
	check_listing(pl_dump_ops, pl_n_ops, "random_flip (workers): ");
	check_listing(pl_dump_sources, pl_n_sources, "range: ");
}

Test(plan_dump, the_schema_is_the_committed_one)
{
	struct buffer b;
	json_t *root;
	char *text;

	buffer_begin(&b);
	pl_dump_schema(b.out);
	text = buffer_end(&b);
	root = parsed(text);
	cr_assert_not_null(json_object_get(json_object_get(root, "properties"), "workers"));
	json_decref(root);
	compare_with_file(source_path("config/pipeline.schema.json"), text);
	free(text);
}

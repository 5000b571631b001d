/* tests/unit/test_client_place.c - names, paths and sockets: where a pipeline's daemon is. */
#include "client/room.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

static struct pl_place place;
static struct pl_place other;
static struct pl_error error;
static char folder[] = "/tmp/pl-place-XXXXXX";
static char file[64];

static void set_up(void)
{
	FILE *out;

	cr_assert_not_null(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/a.yaml", folder);
	out = fopen(file, "w");
	cr_assert_not_null(out);
	fclose(out);
	unsetenv("PIPELOADER_SOCKET");
	unsetenv("SLURM_JOB_ID");
	unsetenv("TORCHELASTIC_RUN_ID");
	unsetenv("MASTER_PORT");
	setenv("PIPELOADER_JOB_ID", "one", 1);
}

static void tear_down(void)
{
	unlink(file);
	rmdir(folder);
}

TestSuite(place, .init = set_up, .fini = tear_down);

static struct pl_client_options standard(void)
{
	struct pl_client_options o;

	pl_client_options_init(&o);
	return o;
}

static int find(struct pl_place *out, const char *what, const struct pl_client_options *o)
{
	struct pl_client_options own = standard();

	return pl_place_init(out, what, o ? o : &own, &error);
}

Test(place, a_name_is_at_the_machines_socket)
{
	struct pl_client_options o = standard();

	cr_assert_eq(find(&place, "train", NULL), 0);
	cr_assert(!place.is_job);
	cr_assert_str_eq(place.socket, "/run/pipeloader/socket");
	cr_assert_str_eq(place.pipeline, "train");
	setenv("PIPELOADER_SOCKET", "@over", 1);
	cr_assert_eq(find(&place, "train", NULL), 0);
	cr_assert_str_eq(place.socket, "over");
	o.socket = "/x/y";
	cr_assert_eq(find(&place, "train", &o), 0);
	cr_assert_str_eq(place.socket, "/x/y");
}

Test(place, a_path_is_a_job_whatever_its_spelling)
{
	char longer[128];

	cr_assert_eq(find(&place, file, NULL), 0);
	cr_assert(place.is_job);
	cr_assert_str_eq(place.pipeline, file);
	snprintf(longer, sizeof(longer), "%s/./../%s/a.yaml", folder, strrchr(folder, '/') + 1);
	cr_assert_eq(find(&other, longer, NULL), 0);
	cr_assert_str_eq(other.pipeline, file);
	cr_assert_str_eq(other.socket, place.socket);
	cr_assert_eq(strlen(strrchr(place.socket, '/') + 1), 32);
	snprintf(longer, sizeof(longer), "pipeloader/%lu/", (unsigned long)getuid());
	cr_assert_eq(strncmp(place.socket, longer, strlen(longer)), 0);
}

Test(place, a_path_with_a_socket_is_no_job_of_ours)
{
	setenv("PIPELOADER_SOCKET", "@over", 1);
	cr_assert_eq(find(&place, file, NULL), 0);
	cr_assert(!place.is_job);
	cr_assert_str_eq(place.pipeline, file);
}

/* The meeting point under the given environment. */
static const char *meet(const char *name, const char *value)
{
	setenv(name, value, 1);
	cr_assert_eq(find(&other, file, NULL), 0);
	return other.socket;
}

Test(place, the_job_tells_meeting_points_apart)
{
	char first[PATH_MAX];
	char second[PATH_MAX];

	cr_assert_eq(find(&place, file, NULL), 0);
	cr_assert_str_eq(meet("SLURM_JOB_ID", "7"), place.socket, "PIPELOADER_JOB_ID comes first");
	cr_assert_str_neq(meet("PIPELOADER_JOB_ID", "two"), place.socket);
	strcpy(first, meet("PIPELOADER_JOB_ID", ""));
	cr_assert_str_eq(meet("TORCHELASTIC_RUN_ID", "none"), first, "then SLURM_JOB_ID");
	unsetenv("SLURM_JOB_ID");
	strcpy(first, meet("MASTER_PORT", "1000"));
	strcpy(second, meet("MASTER_PORT", "1001"));
	cr_assert_str_neq(first, second, "two jobs of torchrun without an id");
	strcpy(first, meet("TORCHELASTIC_RUN_ID", "abc"));
	cr_assert_str_eq(meet("MASTER_PORT", "1000"), first);
	unsetenv("TORCHELASTIC_RUN_ID");
	strcpy(first, meet("MASTER_PORT", "1"));
	cr_assert_str_eq(meet("MASTER_PORT", "2"), first, "the session, at last");
}

Test(place, parameters_are_part_of_it_in_any_order)
{
	static const struct pl_client_param ab[] = {{"a", "1"}, {"b", "2"}};
	static const struct pl_client_param ba[] = {{"b", "2"}, {"a", "1"}};
	static const struct pl_client_param glued[] = {{"a", "1b=2"}};
	struct pl_client_options o = standard();

	o.params = ab;
	o.n_params = 2;
	cr_assert_eq(find(&place, file, &o), 0);
	cr_assert_eq(place.n_settings, 2);
	cr_assert_str_eq(place.setting[1], "b=2");
	o.params = ba;
	cr_assert_eq(find(&other, file, &o), 0);
	cr_assert_str_eq(other.socket, place.socket);
	pl_place_finish(&other);
	o.params = glued;
	o.n_params = 1;
	cr_assert_eq(find(&other, file, &o), 0);
	cr_assert_str_neq(other.socket, place.socket);
	pl_place_finish(&other);
	pl_place_finish(&place);
}

Test(place, what_is_refused_and_why)
{
	static const struct pl_client_param bad[] = {{"a=b", "1"}};
	struct pl_client_options o = standard();
	char name[200];

	cr_assert_eq(find(&place, "no/such.yaml", NULL), -ENOENT);
	cr_assert_eq(error.exit_status, 78);
	o.params = bad;
	o.n_params = 1;
	cr_assert_eq(find(&place, file, &o), -EINVAL);
	cr_assert_eq(error.exit_status, 64);
	cr_assert_eq(find(&place, "train", &o), -EINVAL);
	o.socket = "@x";
	cr_assert_eq(find(&place, file, &o), -EINVAL);
	cr_assert(strstr(error.text, "has its own"), "%s", error.text);
	memset(name, 'a', sizeof(name));
	name[0] = '@';
	name[sizeof(name) - 1] = '\0';
	o = standard();
	o.socket = name;
	cr_assert_eq(find(&place, "train", &o), -ENAMETOOLONG);
	o.socket = "@";
	cr_assert_eq(find(&place, "train", &o), -ENAMETOOLONG);
}

Test(place, which_words_are_files)
{
	cr_assert(
		pl_place_is_file("a.yaml") && pl_place_is_file("a.yml") && pl_place_is_file("./a"));
	cr_assert(!pl_place_is_file("a") && !pl_place_is_file(".yaml") && !pl_place_is_file(""));
}

/* daemon/sources/tar_notes.c - what a listing of archives passed over, said in one line. */
#include "daemon/sources/tar_notes.h"

#include <stdarg.h>
#include <stdio.h>

static void count_archive(bool is_so, uint64_t *n, char *first, size_t room, const char *path)
{
	if (is_so && (*n)++ == 0)
		pl_err_quote(first, room, path);
}

void pl_tar_notes_add(
	struct pl_tar_notes *notes, const struct pl_tar_shard *shard, const char *path)
{
	if (shard->is_index)
		return;
	count_archive(
		shard->is_faulty, &notes->n_faulty, notes->faulty, sizeof(notes->faulty), path);
	count_archive(!shard->has_end && !shard->is_faulty, &notes->n_without_end,
		notes->without_end, sizeof(notes->without_end), path);
	count_archive(shard->has_tail, &notes->n_with_tail, notes->with_tail,
		sizeof(notes->with_tail), path);
	notes->n_unknown += shard->n_unknown;
	notes->n_names += shard->passed.n_names;
	notes->n_samples += shard->passed.n_samples;
	if (shard->note.text[0] && !notes->note[0])
		snprintf(notes->note, sizeof(notes->note), "%.1023s", shard->note.text);
}

struct line {
	char text[2000];
	size_t n;
};

PL_PRINTF(2, 3) static void say(struct line *l, const char *format, ...)
{
	va_list args;
	int n;

	if (l->n >= sizeof(l->text))
		return;
	if (l->n)
		l->n += (size_t)snprintf(l->text + l->n, sizeof(l->text) - l->n, "; ");
	if (l->n >= sizeof(l->text))
		return;
	va_start(args, format);
	n = vsnprintf(l->text + l->n, sizeof(l->text) - l->n, format, args);
	va_end(args);
	l->n += n > 0 ? (size_t)n : 0;
}

void pl_tar_notes_tell(const struct pl_tar_notes *notes, uint64_t n_records, struct pl_err *err)
{
	struct line l = {.n = 0};

	if (notes->n_faulty)
		say(&l, "%llu x damaged or cut archive, its last sample is an error (first: %s)",
			(unsigned long long)notes->n_faulty, notes->faulty);
	if (notes->n_without_end)
		say(&l,
			"%llu x archive without end marker, perhaps cut between two members "
			"(first: %s)",
			(unsigned long long)notes->n_without_end, notes->without_end);
	if (notes->n_with_tail)
		say(&l, "%llu x archive with bytes behind its end that are no archive (first: %s)",
			(unsigned long long)notes->n_with_tail, notes->with_tail);
	if (notes->n_unknown)
		say(&l, "%llu x member of unknown type", (unsigned long long)notes->n_unknown);
	if (notes->n_names)
		say(&l, "%llu x member without key.suffix", (unsigned long long)notes->n_names);
	if (notes->n_samples)
		say(&l, "%llu x sample with none of the fields",
			(unsigned long long)notes->n_samples);
	if (notes->note[0])
		say(&l, "%s", notes->note);
	if (n_records == 0)
		say(&l, "no sample at all");
	if (l.n)
		pl_err_set(err, 0, "%s", l.text);
}

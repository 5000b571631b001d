/* tests/fuzz/fuzz_tar_index.c - any bytes as an archive: walked over, grouped, read. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "daemon/kit/listing.h"
#include "daemon/sources/tar_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_true)
{
	if (!is_true)
		abort();
}

static int memory_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);

	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	return fd;
}

static void read_all(const struct pl_listing *listing, const struct pl_tar_fields *fields)
{
	static struct pl_tar_sample sample;
	static uint8_t bytes[1 << 16];
	struct pl_record_listing records;
	struct pl_any_place files;
	struct pl_err err = {0};

	require(pl_record_listing_open(&records, listing, &err) == 0);
	pl_any_place_init(&files, &records);
	for (uint64_t i = 0; i < records.n_records && i < 64; i++) {
		require(pl_tar_sample_get(&sample, listing, records.place[i], fields) == 0);
		require(sample.n_key <= PL_TAR_NAME_MAX);
		for (int slot = 0; slot < fields->n_slots && !sample.fault; slot++)
			if (sample.has >> slot & 1 && sample.part[slot].bytes <= sizeof(bytes) &&
				pl_tar_part_read(&files, pl_record_listing_file_of(&records, i),
					&sample.part[slot], bytes, &err))
				require(err.text[0]);
	}
	pl_any_place_finish(&files);
}

/* Every member that the index has lies within a plain archive. */
static void check_index(const struct pl_tar_index *ix, size_t size)
{
	static struct pl_tar_index_walk walk;
	struct pl_tar_entry e;
	uint64_t n = 0;
	int r;

	walk = (struct pl_tar_index_walk){
		.left = {ix->members.data, ix->members.data + ix->members.used}};
	for (; (r = pl_tar_index_next(&walk, &e)) > 0; n++)
		require(e.fault || e.is_sparse || ix->is_packed ||
			(e.offset <= size && e.bytes <= size - e.offset));
	require(r == 0 && n == ix->n_members);
}

static void list(const char *path, int fd, const struct pl_tar_index *ix)
{
	static struct pl_tar_fields fields;
	static const struct pl_param_text_map map = {
		2, {{"a", "bytes jpg|txt|bin"}, {"b", "i64 cls"}}};
	static const struct pl_param_texts all = {1, {"all"}};
	struct pl_tar_passed passed = {0};
	struct pl_listing_writer w;
	struct pl_listing listing;
	struct pl_err err = {0};
	struct stat st;

	require(pl_tar_fields_init(&fields, &map, &all, &err) == 0);
	require(fstat(fd, &st) == 0);
	pl_listing_writer_init(&w);
	require(pl_record_listing_add_file(&w, path, &st, ix->is_packed) == 0);
	if (pl_tar_samples_add(&w, ix, &fields, &passed, &err) == 0) {
		int sealed = pl_listing_seal(&w);

		require(sealed >= 0 && pl_listing_map(&listing, sealed, &err) == 0);
		close(sealed);
		read_all(&listing, &fields);
		pl_listing_unmap(&listing);
	}
	pl_listing_writer_finish(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memory_file(data, size);
	struct pl_tar_index ix;
	struct pl_err err = {0};
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (pl_tar_index_build(&ix, fcntl(fd, F_DUPFD_CLOEXEC, 0), 4096, &err) == 0) {
		check_index(&ix, size);
		list(path, fd, &ix);
		pl_tar_index_finish(&ix);
	} else {
		require(err.text[0]);
	}
	close(fd);
	return 0;
}

/* tests/unit/test_kit_listing.c - listings are sealed, mapped, and refused when wrong. */
#include "daemon/kit/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "param_at.h"

static int make(struct pl_listing_writer *w)
{
	pl_listing_writer_init(w);
	w->n_records = 3;
	w->n_classes = 2;
	cr_assert_eq(pl_listing_append(w, 0, "cat\0dog", 8), 0);
	cr_assert_eq(pl_listing_append(w, 5, "hello", 5), 0);
	cr_assert_eq(pl_listing_append(w, 5, NULL, 0), 0);
	return pl_listing_seal(w);
}

Test(kit_listing, what_is_written_is_read)
{
	struct pl_listing_writer w;
	struct pl_listing l;
	struct pl_err err = {0};
	PL_AUTO_CLOSE int fd = make(&w);
	const char *bytes;
	size_t n;

	cr_assert_geq(fd, 0);
	cr_assert_eq(pl_listing_map(&l, fd, &err), 0, "%s", err.text);
	cr_expect_eq(l.head->n_records, 3);
	cr_expect_eq(l.head->n_classes, 2);
	cr_expect_str_eq(pl_listing_class(&l, 0), "cat");
	cr_expect_str_eq(pl_listing_class(&l, 1), "dog");
	bytes = pl_listing_section_at(&l, 5, &n);
	cr_expect(n == 5 && !memcmp(bytes, "hello", 5));
	cr_expect_eq((uintptr_t)bytes % 64, 0);
	pl_listing_section_at(&l, 7, &n);
	cr_expect_eq(n, 0);
	pl_listing_unmap(&l);
	pl_listing_unmap(&l);
	pl_listing_unmap(NULL);
	pl_listing_writer_finish(&w);
	pl_listing_writer_finish(NULL);
}

Test(kit_listing, it_can_not_be_changed)
{
	struct pl_listing_writer w;
	PL_AUTO_CLOSE int fd = make(&w);

	cr_expect(pwrite(fd, "x", 1, 0) < 0 && errno == EPERM);
	cr_expect(ftruncate(fd, 0) < 0 && errno == EPERM);
	cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	pl_listing_writer_finish(&w);
}

static uint64_t hash_of(const char *a, const char *b)
{
	struct pl_listing_writer w;
	struct pl_listing l;
	uint64_t hash;
	PL_AUTO_CLOSE int fd = -1;

	pl_listing_writer_init(&w);
	cr_assert_eq(pl_listing_append(&w, 1, a, strlen(a)), 0);
	cr_assert_eq(pl_listing_append(&w, 2, b, strlen(b)), 0);
	fd = pl_listing_seal(&w);
	cr_assert_eq(pl_listing_map(&l, fd, NULL), 0);
	hash = l.head->hash;
	pl_listing_unmap(&l);
	pl_listing_writer_finish(&w);
	return hash;
}

Test(kit_listing, the_hash_tells_contents_apart)
{
	cr_expect_eq(hash_of("ab", "c"), hash_of("ab", "c"));
	cr_expect_neq(hash_of("ab", "c"), hash_of("a", "bc"));
	cr_expect_neq(hash_of("ab", "c"), hash_of("ab", "d"));
}

Test(kit_listing, sections_grow)
{
	struct pl_listing_writer w;

	pl_listing_writer_init(&w);
	for (uint64_t i = 0; i < 100000; i++)
		cr_assert_eq(pl_listing_append(&w, 4, &i, sizeof(i)), 0);
	for (uint64_t i = 0; i < 100000; i++)
		cr_assert_eq(((uint64_t *)(void *)w.section[4].data)[i], i);
	cr_expect_eq(pl_listing_append(&w, 4, &w, SIZE_MAX), -ENOMEM);
	pl_listing_writer_finish(&w);
}

/* A sealed memfd of these bytes. */
static int seal_bytes(const void *bytes, size_t n, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static void expect_refusal(const void *bytes, size_t n, const char *reason)
{
	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
	PL_AUTO_CLOSE int fd = seal_bytes(bytes, n, seals);
	struct pl_err err = {0};
	struct pl_listing l;

	cr_expect_eq(pl_listing_map(&l, fd, &err), -EINVAL);
	expect_text(err.text, reason);
	cr_expect_null(l.head);
}

Test(kit_listing, wrong_bytes_are_refused_with_the_reason)
{
	struct pl_listing_writer w;
	struct pl_listing l;
	PL_AUTO_CLOSE int fd = make(&w);
	PL_AUTO_FREE char *bytes = NULL;
	struct pl_listing_head *head;
	size_t n;

	cr_assert_eq(pl_listing_map(&l, fd, NULL), 0);
	n = l.bytes;
	bytes = malloc(n);
	head = (void *)bytes;
#define AGAIN() memcpy(bytes, l.head, n)
	AGAIN();
	expect_refusal(bytes, 10, "too short");
	bytes[0] = 'X';
	expect_refusal(bytes, n, "does not begin as a listing");
	AGAIN();
	head->n_sections = 9;
	expect_refusal(bytes, n, "another number of sections");
	AGAIN();
	head->section_offset[5] += 8;
	expect_refusal(bytes, n, "outside");
	AGAIN();
	head->section_offset[5] = 0;
	expect_refusal(bytes, n, "outside");
	AGAIN();
	head->section_bytes[5] = UINT64_MAX;
	expect_refusal(bytes, n, "outside");
	AGAIN();
	head->n_classes = 3;
	expect_refusal(bytes, n, "class names");
	AGAIN();
	head->section_bytes[0] = 7;
	expect_refusal(bytes, n, "class names");
	pl_listing_unmap(&l);
	pl_listing_writer_finish(&w);
}

Test(kit_listing, memory_that_can_still_change_is_refused)
{
	struct pl_listing_head head = {.magic = "PLLIST1"};
	PL_AUTO_CLOSE int fd = seal_bytes(&head, sizeof(head), F_SEAL_SHRINK);
	PL_AUTO_CLOSE int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct pl_err err = {0};
	struct pl_listing l;

	cr_expect_eq(pl_listing_map(&l, fd, &err), -EINVAL);
	expect_text(err.text, "not sealed");
	cr_expect_lt(pl_listing_map(&l, file, &err), 0);
	cr_expect_eq(pl_listing_map(&l, -1, &err), -EBADF);
}

/* daemon/kit/listing.c - grows, seals, maps and checks the list of a source's records. */
#include "daemon/kit/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <xxhash.h>

#define SECTION_ALIGN 64
#define SEALS         (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

_Static_assert(
	__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a listing is written as little-endian memory");

static const char magic[8] = "PLLIST1";

void pl_listing_writer_init(struct pl_listing_writer *w)
{
	*w = (struct pl_listing_writer){0};
}

void pl_listing_writer_finish(struct pl_listing_writer *w)
{
	if (!w)
		return;
	for (int s = 0; s < PL_LISTING_SECTIONS; s++)
		free(w->section[s].data);
	*w = (struct pl_listing_writer){0};
}

int pl_listing_append(struct pl_listing_writer *w, int s, const void *bytes, size_t n)
{
	struct pl_listing_section *section = &w->section[s];
	size_t need;

	if (!pl_size_add(section->used, n, &need))
		return -ENOMEM;
	if (need > section->room) {
		size_t room = section->room < 4096 ? 4096 : section->room + section->room / 2;
		char *grown;

		room = room < need ? need : room;
		grown = realloc(section->data, room);
		if (!grown)
			return -ENOMEM;
		section->data = grown;
		section->room = room;
	}
	if (n)
		memcpy(section->data + section->used, bytes, n);
	section->used = need;
	return 0;
}

/* Lengths are hashed too, so that a byte that moves from one section to the next is seen. */
static int hash_sections(const struct pl_listing_writer *w, uint64_t *hash)
{
	XXH3_state_t *state = XXH3_createState();

	if (!state)
		return -ENOMEM;
	XXH3_64bits_reset(state);
	XXH3_64bits_update(state, &w->n_records, sizeof(w->n_records));
	XXH3_64bits_update(state, &w->n_classes, sizeof(w->n_classes));
	for (int s = 0; s < PL_LISTING_SECTIONS; s++) {
		uint64_t n = w->section[s].used;

		XXH3_64bits_update(state, &n, sizeof(n));
		if (n)
			XXH3_64bits_update(state, w->section[s].data, n);
	}
	*hash = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	return 0;
}

/* Head of what w becomes; its size in *bytes. */
static int make_head(
	const struct pl_listing_writer *w, struct pl_listing_head *head, uint64_t *bytes)
{
	uint64_t at = pl_align_up(sizeof(*head), SECTION_ALIGN);

	*head = (struct pl_listing_head){.n_records = w->n_records,
		.n_sections = PL_LISTING_SECTIONS,
		.n_classes = w->n_classes};
	memcpy(head->magic, magic, sizeof(magic));
	for (int s = 0; s < PL_LISTING_SECTIONS; s++) {
		head->section_offset[s] = at;
		head->section_bytes[s] = w->section[s].used;
		at = pl_align_up(at + w->section[s].used, SECTION_ALIGN);
	}
	*bytes = at;
	return hash_sections(w, &head->hash);
}

static int append_aligned(struct pl_listing_writer *w, int s, const void *bytes, size_t n)
{
	static const char zeros[SECTION_ALIGN];
	size_t gap = (SECTION_ALIGN - n % SECTION_ALIGN) % SECTION_ALIGN;
	int r = pl_listing_append(w, s, bytes, n);

	return r ? r : pl_listing_append(w, s, zeros, gap);
}

int pl_listing_append_image(
	struct pl_listing_writer *w, int s, const struct pl_listing_writer *inner)
{
	struct pl_listing_head head;
	uint64_t bytes;
	int r = make_head(inner, &head, &bytes);

	if (!r)
		r = append_aligned(w, s, &head, sizeof(head));
	for (int i = 0; i < PL_LISTING_SECTIONS && !r; i++)
		r = append_aligned(w, s, inner->section[i].data, inner->section[i].used);
	return r;
}

static int write_at(int fd, const void *bytes, size_t n, uint64_t offset)
{
	const char *from = bytes;

	while (n) {
		ssize_t r = pwrite(fd, from, n, (off_t)offset);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r < 0 ? -errno : -EIO;
		from += r;
		offset += (uint64_t)r;
		n -= (size_t)r;
	}
	return 0;
}

static int create_memfd(void)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create("pipeloader-listing", flags | MFD_NOEXEC_SEAL);

	/* Kernels before 6.3 don't know the flag. */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("pipeloader-listing", flags);
	return fd < 0 ? -errno : fd;
}

static int write_listing(const struct pl_listing_writer *w, int fd)
{
	struct pl_listing_head head;
	uint64_t at;
	int r = make_head(w, &head, &at);

	for (int s = 0; s < PL_LISTING_SECTIONS && !r; s++)
		r = write_at(fd, w->section[s].data, w->section[s].used, head.section_offset[s]);
	if (!r)
		r = write_at(fd, &head, sizeof(head), 0);
	if (!r && ftruncate(fd, (off_t)at))
		r = -errno;
	if (!r && fcntl(fd, F_ADD_SEALS, SEALS))
		r = -errno;
	return r;
}

int pl_listing_seal(struct pl_listing_writer *w)
{
	PL_AUTO_CLOSE int fd = create_memfd();
	int r;

	if (fd < 0)
		return fd;
	r = write_listing(w, fd);
	return r ? r : pl_steal_fd(&fd);
}

static const char *head_fault(const struct pl_listing_head *h, uint64_t size)
{
	if (memcmp(h->magic, magic, sizeof(magic)))
		return "it does not begin as a listing";
	if (h->n_sections != PL_LISTING_SECTIONS)
		return "it has another number of sections";
	for (int s = 0; s < PL_LISTING_SECTIONS; s++) {
		uint64_t at = h->section_offset[s];

		if (at % SECTION_ALIGN || at < sizeof(*h) || at > size ||
			h->section_bytes[s] > size - at)
			return "a section lies outside of it";
	}
	return NULL;
}

/* Section 0 must hold n_classes names, each with its NUL, and nothing else. */
static bool has_all_classes(const struct pl_listing_head *h)
{
	const char *at = (const char *)h + h->section_offset[0];
	const char *end = at + h->section_bytes[0];
	uint64_t n = 0;

	while (at < end) {
		const char *nul = memchr(at, 0, (size_t)(end - at));

		if (!nul)
			return false;
		at = nul + 1;
		n++;
	}
	return h->n_classes == 0 || n == h->n_classes;
}

int pl_listing_view(struct pl_listing *l, const void *image, size_t n, struct pl_err *err)
{
	const char *fault =
		n < sizeof(struct pl_listing_head) ? "it is too short" : head_fault(image, n);

	*l = (struct pl_listing){0};
	if (!fault && !has_all_classes(image))
		fault = "its class names are not complete";
	if (fault)
		return pl_err_set(err, -EINVAL, "listing: %s", fault);
	l->head = image;
	l->bytes = n;
	return 0;
}

int pl_listing_map(struct pl_listing *l, int fd, struct pl_err *err)
{
	int r;
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);
	void *at;

	*l = (struct pl_listing){0};
	if (seals < 0 || fstat(fd, &st))
		return pl_err_set(err, -errno, "listing: %s", strerror(errno));
	if ((seals & SEALS) != SEALS)
		return pl_err_set(err, -EINVAL, "listing: its memory is not sealed");
	if ((uint64_t)st.st_size < sizeof(struct pl_listing_head))
		return pl_err_set(err, -EINVAL, "listing: it is too short");
	/* Private, for a shared mapping of write-sealed memory is refused before Linux 6.7. */
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return pl_err_set(err, -errno, "listing: %s", strerror(errno));
	r = pl_listing_view(l, at, (size_t)st.st_size, err);
	if (r)
		munmap(at, (size_t)st.st_size);
	return r;
}

void pl_listing_unmap(struct pl_listing *l)
{
	if (!l || !l->head)
		return;
	munmap((void *)(uintptr_t)l->head, l->bytes);
	*l = (struct pl_listing){0};
}

const void *pl_listing_section_at(const struct pl_listing *l, int s, size_t *n)
{
	*n = (size_t)l->head->section_bytes[s];
	return (const char *)l->head + l->head->section_offset[s];
}

const char *pl_listing_class(const struct pl_listing *l, uint32_t label)
{
	size_t n;
	const char *at = pl_listing_section_at(l, 0, &n);

	while (label--)
		at += strlen(at) + 1;
	return at;
}

/* tests/unit/test_kit_text_list.c - lists of texts are written, read, and refused when broken. */
#include "daemon/kit/text_list.h"

#include <errno.h>

#include <criterion/criterion.h>

static size_t make(char *out, size_t n, const char *const *texts, uint32_t n_texts)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < n_texts; i++)
		bytes += strlen(texts[i]);
	bytes = pl_text_list_bytes(n_texts, bytes);
	cr_assert(bytes > 0 && bytes <= n);
	pl_text_list_begin(out, n_texts);
	for (uint32_t i = 0; i < n_texts; i++)
		pl_text_list_put(out, i, texts[i], strlen(texts[i]));
	return bytes;
}

Test(kit_text_list, what_is_put_is_there)
{
	static const char *const texts[] = {"", "one", "", "caf\xc3\xa9"};
	char room[65];
	char *list = room + 1; /* unaligned on purpose */
	size_t bytes = make(list, 64, texts, 4);

	cr_assert_eq(bytes, 5 * 4 + 8);
	cr_assert_eq(pl_text_list_count(list, bytes), 4);
	for (uint32_t i = 0; i < 4; i++) {
		size_t n;
		const char *text = pl_text_list_at(list, i, &n);

		cr_expect_eq(n, strlen(texts[i]));
		cr_expect(memcmp(text, texts[i], n) == 0);
	}
}

Test(kit_text_list, a_list_may_be_empty)
{
	char list[4];

	cr_expect_eq(make(list, sizeof(list), NULL, 0), 4);
	cr_expect_eq(pl_text_list_count(list, 4), 0);
}

Test(kit_text_list, broken_bytes_are_no_list)
{
	static const char *const texts[] = {"ab", "cd"};
	char list[64];
	size_t bytes = make(list, sizeof(list), texts, 2);
	uint32_t word;

	for (size_t n = 0; n < bytes; n++)
		cr_expect_eq(pl_text_list_count(list, n), -EINVAL, "%zu bytes", n);
	cr_expect_eq(pl_text_list_count(list, bytes + 1), -EINVAL);
	word = 5; /* the first text ends behind the second */
	memcpy(list + 4, &word, sizeof(word));
	cr_expect_eq(pl_text_list_count(list, bytes), -EINVAL);
	word = UINT32_MAX; /* more texts than bytes */
	memcpy(list, &word, sizeof(word));
	cr_expect_eq(pl_text_list_count(list, bytes), -EINVAL);
}

Test(kit_text_list, what_no_value_can_hold_has_no_size)
{
	cr_expect_eq(pl_text_list_bytes(0, UINT32_MAX - 4), UINT32_MAX);
	cr_expect_eq(pl_text_list_bytes(0, UINT32_MAX - 3), 0);
	cr_expect_eq(pl_text_list_bytes(0, SIZE_MAX), 0);
	cr_expect_eq(pl_text_list_bytes(SIZE_MAX, 0), 0);
	cr_expect_eq(pl_text_list_bytes(1u << 30, 0), 0);
	cr_expect_eq(pl_text_list_bytes(1000, 24), 4028);
}

/* client/ctl/json.c - a batch as one line of JSON. */
#include "client/ctl/ctl.h"

#include <inttypes.h>
#include <string.h>

/* Length of the UTF-8 sequence at s, or 0 when there is none. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = s[0] < 0x80             ? 1
			: (s[0] & 0xe0) == 0xc0 ? 2
			: (s[0] & 0xf0) == 0xe0 ? 3
			: (s[0] & 0xf8) == 0xf0 ? 4
						: 0;
	uint32_t c;

	if (length <= 1 || length > n)
		return length > n ? 0 : length;
	c = s[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3fu);
	}
	return c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : length;
}

/* Bytes that are no UTF-8 become U+FFFD. */
void ctl_json_text(FILE *out, const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', out);
	while (n) {
		size_t length = utf8_length(s, n);

		if (length == 0)
			fputs("\\ufffd", out);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(out, "\\u%04x", *s);
		else
			fwrite(s, 1, length, out);
		length += length == 0;
		s += length;
		n -= length;
	}
	putc('"', out);
}

struct printer {
	FILE *out;
	enum pl_dtype dtype;
	const char *between;
};

static void print_element(void *data, const void *element)
{
	struct printer *p = data;
	char text[CTL_NUMBER_MAX];

	ctl_number_json(text, p->dtype, element);
	fputs(p->between, p->out);
	fputs(text, p->out);
	p->between = ",";
}

static void print_values(FILE *out, const struct pl_tensor *t, int64_t n)
{
	struct printer p = {.out = out, .dtype = t->dtype, .between = ""};

	fputs(",\"values\":[", out);
	ctl_walk(t, n, print_element, &p);
	putc(']', out);
}

static bool is_text(const struct pl_field *f, const struct pl_tensor *t)
{
	return strcmp(f->kind, "text") == 0 && t->dtype == PL_U8 && t->rank == 1 &&
	       pl_tensor_is_contiguous(t);
}

/* One string a sample. */
static void print_texts(
	FILE *out, const struct pl_tensor *t, const int64_t *offsets, int64_t size, int64_t n)
{
	const int64_t whole[2] = {0, t->shape[0]};

	if (!offsets) {
		offsets = whole;
		size = 1;
	}
	fputs(",\"values\":[", out);
	for (int64_t i = 0; i < size && (n < 0 || i < n); i++) {
		fputs(i ? "," : "", out);
		ctl_json_text(out, (const char *)t->data + offsets[i],
			(size_t)(offsets[i + 1] - offsets[i]));
	}
	putc(']', out);
}

static void print_offsets(FILE *out, const int64_t *offsets, uint64_t size)
{
	fputs(",\"offsets\":[", out);
	for (uint64_t i = 0; i <= size; i++)
		fprintf(out, "%s%" PRId64, i ? "," : "", offsets[i]);
	putc(']', out);
}

static void print_field(FILE *out, const struct pl_client *client, const struct pl_batch *batch,
	size_t i, int64_t n_values)
{
	const struct pl_field *f = pl_client_field(client, i);
	const struct pl_tensor *t = pl_batch_tensor_at(batch, i);
	const int64_t *offsets = pl_batch_offsets(batch, i);

	ctl_json_text(out, f->name, strlen(f->name));
	fprintf(out, ":{\"dtype\":\"%s\",\"shape\":[", pl_dtype_name(t->dtype));
	for (int d = 0; d < t->rank; d++)
		fprintf(out, "%s%" PRId64, d ? "," : "", t->shape[d]);
	putc(']', out);
	if (is_text(f, t) && (offsets || !f->is_batched)) {
		print_texts(out, t, offsets, (int64_t)pl_batch_size(batch), n_values);
	} else {
		if (offsets)
			print_offsets(out, offsets, pl_batch_size(batch));
		print_values(out, t, n_values);
	}
	putc('}', out);
}

static void print_samples(FILE *out, const struct pl_batch *batch, char **names)
{
	const uint64_t *indices = pl_batch_indices(batch);

	fputs(",\"samples\":[", out);
	for (uint64_t i = 0; i < pl_batch_size(batch); i++) {
		fprintf(out, "%s{\"index\":%" PRIu64 ",\"source\":", i ? "," : "", indices[i]);
		ctl_json_text(out, names[i], strlen(names[i]));
		putc('}', out);
	}
	putc(']', out);
}

void ctl_json_batch(FILE *out, const struct pl_client *client, const struct pl_batch *batch,
	int64_t n_values, char **names)
{
	fprintf(out,
		"{\"epoch\":%" PRIu64 ",\"batch\":%" PRIu64 ",\"size\":%" PRIu64 ",\"fields\":{",
		pl_batch_epoch(batch), pl_batch_number(batch), pl_batch_size(batch));
	for (size_t i = 0; i < pl_client_n_fields(client); i++) {
		fputs(i ? "," : "", out);
		print_field(out, client, batch, i, n_values);
	}
	putc('}', out);
	if (names)
		print_samples(out, batch, names);
	fputs("}\n", out);
}

/* proto/err.c - the text of an error. */
#include "proto/err.h"

#include <stdarg.h>
#include <stdio.h>

int pl_err_set(struct pl_err *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	err->code = code;
	err->param = NULL;
	err->offset = 0;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return code;
}

int pl_err_at(struct pl_err *err, const char *param, size_t offset)
{
	if (!err)
		return 0;
	err->param = param;
	err->offset = offset;
	return err->code;
}

int pl_err_prefix(struct pl_err *err, const char *format, ...)
{
	char rest[sizeof(err->text)];
	va_list args;
	int n;

	if (!err)
		return 0;
	memcpy(rest, err->text, sizeof(rest));
	va_start(args, format);
	n = vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	if (n >= 0 && (size_t)n < sizeof(err->text))
		snprintf(err->text + n, sizeof(err->text) - (size_t)n, "%s", rest);
	return err->code;
}

/* Length of the valid UTF-8 sequence at s (1..4), or 0. */
static size_t utf8_length(const unsigned char *s)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = s[0] < 0x80             ? 1
		   : (s[0] & 0xe0) == 0xc0 ? 2
		   : (s[0] & 0xf0) == 0xe0 ? 3
		   : (s[0] & 0xf8) == 0xf0 ? 4
					   : 0;
	uint32_t c;

	if (n <= 1)
		return n;
	c = s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3fu);
	}
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

char *pl_err_quote(char *out, size_t size, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t at = 0;

	while (*s && at + 5 < size) {
		size_t n = utf8_length(s);

		if (n == 0 || (n == 1 && (*s < 0x20 || *s == 0x7f))) {
			at += (size_t)snprintf(out + at, size - at, "\\x%02X", *s);
			s++;
			continue;
		}
		memcpy(out + at, s, n);
		at += n;
		s += n;
	}
	if (size)
		out[at < size ? at : size - 1] = '\0';
	return out;
}

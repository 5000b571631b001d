/* tests/unit/test_sources_glob.c - what patterns match, and which are refused. */
#include "daemon/sources/glob.h"

#include <errno.h>
#include <stdio.h>

#include "param_at.h"

/* Walks the folders of `path` as a tree walk would; a folder written "x@" is a link to a folder. */
static bool matches(const char *pattern, const char *path)
{
	struct pl_glob g;
	struct pl_err err = {0};
	uint64_t places;
	char copy[256];
	char *rest = copy;

	cr_assert_eq(pl_glob_init(&g, pattern, &err), 0, "%s: %s", pattern, err.text);
	places = pl_glob_start(&g);
	snprintf(copy, sizeof(copy), "%s", path);
	for (char *part; (part = strsep(&rest, "/"));) {
		size_t n = strlen(part);
		bool is_link = rest && n > 0 && part[n - 1] == '@';

		if (is_link)
			part[n - 1] = '\0';
		places = pl_glob_step(&g, places, part, is_link);
	}
	places &= pl_glob_end(&g);
	pl_glob_finish(&g);
	return places != 0;
}

static void expect(const char *pattern, const char *path, bool wanted)
{
	cr_expect_eq(matches(pattern, path), wanted, "'%s' and '%s'", pattern, path);
}

Test(sources_glob, one_part)
{
	expect("*.jpg", "a.jpg", true);
	expect("*.jpg", "a.jpeg", false);
	expect("*.jpg", "d/a.jpg", false);
	expect("*", "a", true);
	expect("a*b*c", "aXbYc", true);
	expect("a*b*c", "aXbYcZ", false);
	expect("a?c", "abc", true);
	expect("a?c", "ac", false);
	expect("a?c",
		"a\xc3\xa9"
		"c",
		true);
	expect("a?c",
		"a\xe9"
		"c",
		true);
	expect("[a-c]x", "bx", true);
	expect("[a-c]x", "dx", false);
	expect("[!a-c]x", "dx", true);
	expect("[^a-c]x", "bx", false);
	expect("[!a]x", "\xc3\xa9x", true);
	expect("[]]x", "]x", true);
	expect("[a-]x", "-x", true);
	expect("[ab", "[ab", true);
	expect("\\*", "*", true);
	expect("\\*", "a", false);
	expect("a\\", "a\\", true);
	expect("[[]x[]]*.txt", "[x]*.txt", true);
	expect("caf\xc3\xa9*", "caf\xc3\xa9.txt", true);
	expect("*", "latin\xe9.txt", true);
}

Test(sources_glob, folders)
{
	expect("*/*.jpg", "d/a.jpg", true);
	expect("*/*.jpg", "a.jpg", false);
	expect("*/*.jpg", "d/e/a.jpg", false);
	expect("d//./*.jpg", "d/a.jpg", true);
	expect("**/*.jpg", "a.jpg", true);
	expect("**/*.jpg", "d/e/f/a.jpg", true);
	expect("d/**/*.jpg", "d/a.jpg", true);
	expect("d/**/*.jpg", "e/a.jpg", false);
	expect("**", "a", true);
	expect("**", "d/a", true);
	expect("**/x/**/y*", "a/x/b/x/y1", true);
	expect("**/x/**/y*", "a/b/y1", false);
	expect("**/**/a", "a", true);
}

Test(sources_glob, hidden_names_need_their_dot)
{
	expect("*", ".a", false);
	expect("?a", ".a", false);
	expect("[.]a", ".a", false);
	expect(".*", ".a", true);
	expect("\\.a", ".a", true);
	expect("**", ".git/a", false);
	expect("**/*.txt", ".git/a.txt", false);
	expect("**/.git/*", "x/.git/a", true);
	expect("**", "d/._a", false);
	expect("{.a,b}", ".a", true);
}

Test(sources_glob, links_to_folders_are_entered_by_name_only)
{
	expect("*/*.jpg", "d@/a.jpg", true);
	expect("d/*.jpg", "d@/a.jpg", true);
	expect("**/*.jpg", "d@/a.jpg", false);
	expect("**", "d@/a.jpg", false);
	expect("*/**/*.jpg", "d@/e/a.jpg", true);
}

Test(sources_glob, alternatives)
{
	expect("*.{jpg,png}", "a.png", true);
	expect("*.{jpg,png}", "a.gif", false);
	expect("*.{jp{,e}g,png}", "a.jpg", true);
	expect("*.{jp{,e}g,png}", "a.jpeg", true);
	expect("{a,b}{1,2}", "b1", true);
	expect("{a,b}{1,2}", "c1", false);
	expect("{a}", "a", true);
	expect("{,x}a", "a", true);
	expect("\\{a", "{a", true);
	expect("[{]a", "{a", true);
	expect("a}", "a}", true);
	expect("{*.jpg,b?}", "bb", true);
	expect("{train,val}/*", "val/a", true);
}

static void expect_refusal(const char *pattern, const char *part)
{
	struct pl_glob g;
	struct pl_err err = {0};

	cr_expect_eq(pl_glob_init(&g, pattern, &err), -EINVAL, "%s", pattern);
	expect_text(err.text, part);
	pl_glob_finish(&g);
}

Test(sources_glob, wrong_patterns_are_refused)
{
	char many[400] = "";

	expect_refusal("**.jpg", "** must stand alone between slashes");
	expect_refusal("*/../a", "'..' can't come after a wildcard");
	expect_refusal("*/", "the pattern ends in '/'");
	expect_refusal("a{b,c", "'{' without '}'");
	expect_refusal("a{b/c}", "'{' without '}'");
	expect_refusal("x_{1..8}", "a range in {} isn't understood here");
	expect_refusal("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
		"more than 1024 patterns");
	for (int i = 0; i < 61; i++)
		strcat(many, "*/");
	strcat(many, "*");
	expect_refusal(many, "more than 60 parts");
	pl_glob_finish(NULL);
}

/* Stars must not make the work grow with the power of their number. */
Test(sources_glob, many_stars_are_fast, .timeout = 10)
{
	char name[256];

	memset(name, 'a', 255);
	name[255] = '\0';
	expect("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name, false);
	expect("**/**/**/**/**/**/**/**/**/**/b", "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", false);
}

Test(sources_glob, the_part_without_wildcards)
{
	cr_expect_eq(pl_glob_fixed("a/b/*.jpg"), 4);
	cr_expect_eq(pl_glob_fixed("a/b*/c"), 2);
	cr_expect_eq(pl_glob_fixed("*.jpg"), 0);
	cr_expect_eq(pl_glob_fixed("/x?"), 1);
	cr_expect_eq(pl_glob_fixed("a/b"), 3);
	cr_expect_eq(pl_glob_fixed("a/\\[b/c"), 2);
	cr_expect_eq(pl_glob_fixed("a/{b,c}"), 2);
}

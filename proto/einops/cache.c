/* proto/einops/cache.c - a bounded memory of plans, and the calls that use it. */
#include "proto/einops/plan.h"

#include <errno.h>

/*
 * A key is the whole question, byte for byte, so two questions share a plan only if they are the
 * same; a question too long for a key is answered without the cache. Only answers are kept, never
 * errors. The places of a set are guarded by a flag that nobody waits for: whoever finds it taken
 * goes on as if the cache were empty. So a look-up can't block, not even in a child forked while
 * another thread held the flag.
 */
#define KEY_MAX 1024
#define WAYS    4

struct key {
	size_t n;
	uint64_t hash;
	char bytes[KEY_MAX];
};

struct entry {
	struct pl_einops_plan *plan; /* NULL: free */
	uint64_t hash;
	uint64_t used; /* the set's clock at the last use */
	size_t n_key;
	char *key;
};

struct set {
	atomic_flag is_busy;
	uint64_t clock;
	struct entry entry[WAYS];
};

struct pl_einops_cache {
	size_t n_sets; /* a power of two */
	struct set sets[];
};

static bool put(struct key *k, const void *bytes, size_t n)
{
	if (n > KEY_MAX - k->n)
		return false;
	memcpy(k->bytes + k->n, bytes, n);
	k->n += n;
	return true;
}

static bool put_number(struct key *k, uint64_t number)
{
	return put(k, &number, sizeof(number));
}

static bool put_text(struct key *k, const char *text, size_t n)
{
	return put_number(k, n) && put(k, text, n);
}

/* Strides count only along lengths of more than one. */
static bool put_tensor(struct key *k, const struct pl_tensor *t)
{
	bool is_ok = t->rank >= 0 && t->rank <= PL_RANK_MAX &&
		     put_number(k, (uint64_t)t->dtype << 32 | (uint64_t)t->rank) &&
		     put(k, t->shape, (size_t)t->rank * sizeof(t->shape[0]));

	for (int d = 0; is_ok && d < t->rank; d++)
		is_ok = put_number(k, t->shape[d] > 1 ? (uint64_t)t->stride[d] : 0);
	return is_ok;
}

static bool put_args(struct key *k, const struct pl_einops_args *args)
{
	bool is_ok = put_number(k, (uint64_t)args->n_inputs << 1 | args->is_list) &&
		     put_number(k, args->n_axes) && put_number(k, args->n_packed);

	for (size_t i = 0; is_ok && i < args->n_inputs; i++)
		is_ok = put_tensor(k, &args->inputs[i]);
	for (size_t i = 0; is_ok && i < args->n_axes; i++)
		is_ok = args->axes[i].name && put_number(k, (uint64_t)args->axes[i].length) &&
			put_text(k, args->axes[i].name, strlen(args->axes[i].name));
	for (size_t i = 0; is_ok && i < args->n_packed; i++) {
		const struct pl_einops_shape *s = &args->packed[i];

		is_ok = s->rank >= 0 && s->rank <= PL_RANK_MAX &&
			put_number(k, (uint64_t)s->rank) &&
			put(k, s->length, (size_t)s->rank * sizeof(s->length[0]));
	}
	return is_ok;
}

static uint64_t hash_of(const char *bytes, size_t n)
{
	uint64_t h = n * 0x9e3779b97f4a7c15u;

	for (size_t i = 0; i < n; i += 8) {
		uint64_t word = 0;

		memcpy(&word, bytes + i, n - i < 8 ? n - i : 8);
		h = (h ^ word) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	return h;
}

/* False if the question is too long, or so wrong that it can't be read. */
static bool key_init(
	struct key *k, const struct pl_einops_spec *spec, const struct pl_einops_args *args)
{
	const char *reduction = spec->op == PL_EINOPS_REDUCE ? spec->reduction : NULL;

	k->n = 0;
	if (!spec->pattern || !put_number(k, (uint64_t)spec->op) || !put_args(k, args) ||
		!put_text(k, spec->pattern, spec->n_pattern) ||
		(reduction && !put_text(k, reduction, strlen(reduction))))
		return false;
	k->hash = hash_of(k->bytes, k->n);
	return true;
}

static struct set *set_of(struct pl_einops_cache *cache, const struct key *k)
{
	return &cache->sets[(k->hash >> 8) & (cache->n_sets - 1)];
}

static bool try_lock(struct set *s)
{
	return !atomic_flag_test_and_set_explicit(&s->is_busy, memory_order_acquire);
}

static void unlock(struct set *s)
{
	atomic_flag_clear_explicit(&s->is_busy, memory_order_release);
}

/* The plan of that key with a reference of its own, or NULL. The set is locked. */
static struct pl_einops_plan *find(struct set *s, const struct key *k)
{
	for (int i = 0; i < WAYS; i++) {
		struct entry *e = &s->entry[i];

		if (!e->plan || e->hash != k->hash || e->n_key != k->n ||
			memcmp(e->key, k->bytes, k->n) != 0)
			continue;
		e->used = ++s->clock;
		return pl_einops_plan_acquire(e->plan);
	}
	return NULL;
}

/* The entry to use next: a free one, or the one unused for longest. */
static struct entry *oldest(struct set *s)
{
	struct entry *e = &s->entry[0];

	for (int i = 1; i < WAYS; i++)
		if (s->entry[i].used < e->used)
			e = &s->entry[i];
	return e;
}

/* Keeps the plan, and returns the one to use: another thread's, if that was faster. Takes and gives
 * a reference. */
static struct pl_einops_plan *keep(
	struct pl_einops_cache *cache, const struct key *k, struct pl_einops_plan *plan)
{
	struct set *s = set_of(cache, k);
	struct entry entry = {.hash = k->hash, .n_key = k->n, .key = malloc(k->n)};
	struct entry old = {0};
	struct pl_einops_plan *known;

	if (!entry.key)
		return plan;
	memcpy(entry.key, k->bytes, k->n);
	if (!try_lock(s)) {
		free(entry.key);
		return plan;
	}
	known = find(s, k);
	if (!known) {
		struct entry *e = oldest(s);

		old = *e;
		entry.used = ++s->clock;
		entry.plan = pl_einops_plan_acquire(plan);
		*e = entry;
	}
	unlock(s);
	pl_einops_plan_release(old.plan);
	free(old.key);
	if (!known)
		return plan;
	free(entry.key);
	pl_einops_plan_release(plan);
	return known;
}

PL_EXPORT struct pl_einops_cache *pl_einops_cache_create(size_t capacity)
{
	size_t n_sets = 1;
	struct pl_einops_cache *cache;

	while (n_sets * WAYS < capacity && n_sets < 65536 / WAYS)
		n_sets *= 2;
	cache = calloc(1, sizeof(*cache) + n_sets * sizeof(cache->sets[0]));
	if (!cache)
		return NULL;
	cache->n_sets = n_sets;
	for (size_t i = 0; i < n_sets; i++)
		atomic_flag_clear(&cache->sets[i].is_busy);
	return cache;
}

PL_EXPORT void pl_einops_cache_destroy(struct pl_einops_cache *cache)
{
	for (size_t i = 0; cache && i < cache->n_sets; i++) {
		for (int k = 0; k < WAYS; k++) {
			pl_einops_plan_release(cache->sets[i].entry[k].plan);
			free(cache->sets[i].entry[k].key);
		}
	}
	free(cache);
}

static struct pl_einops_plan *look_up(struct pl_einops_cache *cache, const struct key *k)
{
	struct set *s = set_of(cache, k);
	struct pl_einops_plan *plan;

	if (!try_lock(s))
		return NULL;
	plan = find(s, k);
	unlock(s);
	return plan;
}

static int make(const struct pl_einops_spec *spec, const struct pl_einops_args *args,
	struct pl_einops_plan **out, struct pl_einops_error *error)
{
	struct pl_einops_pattern *p = NULL;
	int r = pl_einops_parse(spec, &p, error);

	if (!r)
		r = pl_einops_plan_create(p, args, out, error);
	pl_einops_pattern_destroy(p);
	return r;
}

PL_EXPORT int pl_einops_cache_plan(struct pl_einops_cache *cache, const struct pl_einops_spec *spec,
	const struct pl_einops_args *args, struct pl_einops_plan **out,
	struct pl_einops_error *error)
{
	struct pl_einops_plan *plan = NULL;
	struct key k;
	int r;

	if (!cache || !key_init(&k, spec, args))
		return make(spec, args, out, error);
	plan = look_up(cache, &k);
	if (!plan) {
		r = make(spec, args, &plan, error);
		if (r)
			return r;
		plan = keep(cache, &k, plan);
	}
	*out = plan;
	return 0;
}

PL_EXPORT int pl_einops_call(struct pl_einops_cache *cache, const struct pl_einops_spec *spec,
	const struct pl_einops_args *args, const struct pl_tensor *outputs,
	struct pl_einops_error *error)
{
	struct fault f = {error, spec->op, spec->pattern, spec->n_pattern};
	struct pl_einops_plan *plan;
	int r = pl_einops_cache_plan(cache, spec, args, &plan, error);

	if (r)
		return r;
	r = pl_einops_run(plan, args->inputs, outputs);
	pl_einops_plan_release(plan);
	return r ? pl_fault(&f, PL_EINOPS_E_ARGUMENT, span_all(&f),
			   "an output is not as the plan says, or an input has no data")
		 : 0;
}

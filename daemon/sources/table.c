/* daemon/sources/table.c - the table of sources, sorted by name, for pl_source_find. */
#include "daemon/sources/table.h"

const struct pl_source_op *const pl_sources[] = {
	&pl_source_concat,
	&pl_source_csv,
	&pl_source_files,
	&pl_source_jsonl,
	&pl_source_list,
	&pl_source_mix,
	&pl_source_npy,
	&pl_source_range,
	&pl_source_tar,
	&pl_source_text,
	&pl_source_tfrecord,
	&pl_source_tokens,
};

const size_t pl_n_sources = PL_ARRAY_LEN(pl_sources);

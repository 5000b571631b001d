/* daemon/sources/table.h - every kind of source this daemon has, one file each. */
#pragma once

#include "daemon/kit/source.h"

extern const struct pl_source_op pl_source_concat;
extern const struct pl_source_op pl_source_csv;
extern const struct pl_source_op pl_source_files;
extern const struct pl_source_op pl_source_jsonl;
extern const struct pl_source_op pl_source_list;
extern const struct pl_source_op pl_source_mix;
extern const struct pl_source_op pl_source_npy;
extern const struct pl_source_op pl_source_range;
extern const struct pl_source_op pl_source_tar;
extern const struct pl_source_op pl_source_text;
extern const struct pl_source_op pl_source_tfrecord;
extern const struct pl_source_op pl_source_tokens;

/* daemon/ops/table.h - every step this daemon has, one file each. */
#pragma once

#include "daemon/kit/op.h"

extern const struct pl_op pl_op_batch;
extern const struct pl_op pl_op_boxes;
extern const struct pl_op pl_op_cast;
extern const struct pl_op pl_op_center_crop;
extern const struct pl_op pl_op_choose;
extern const struct pl_op pl_op_color_jitter;
extern const struct pl_op pl_op_crop_audio;
extern const struct pl_op pl_op_decode_audio;
extern const struct pl_op pl_op_decode_image;
extern const struct pl_op pl_op_delay;
extern const struct pl_op pl_op_drop;
extern const struct pl_op pl_op_fill_missing;
extern const struct pl_op pl_op_filter;
extern const struct pl_op pl_op_filter_boxes;
extern const struct pl_op pl_op_gaussian_blur;
extern const struct pl_op pl_op_grayscale;
extern const struct pl_op pl_op_group;
extern const struct pl_op pl_op_lookup;
extern const struct pl_op pl_op_normalize;
extern const struct pl_op pl_op_one_of;
extern const struct pl_op pl_op_pad;
extern const struct pl_op pl_op_random_crop;
extern const struct pl_op pl_op_random_erasing;
extern const struct pl_op pl_op_random_flip;
extern const struct pl_op pl_op_random_resized_crop;
extern const struct pl_op pl_op_read_file;
extern const struct pl_op pl_op_rearrange;
extern const struct pl_op pl_op_reduce;
extern const struct pl_op pl_op_repeat;
extern const struct pl_op pl_op_resize;
extern const struct pl_op pl_op_select;
extern const struct pl_op pl_op_shuffle;
extern const struct pl_op pl_op_skip;
extern const struct pl_op pl_op_solarize;
extern const struct pl_op pl_op_stack;
extern const struct pl_op pl_op_subset;
extern const struct pl_op pl_op_take;
extern const struct pl_op pl_op_trace;
extern const struct pl_op pl_op_truncate;
extern const struct pl_op pl_op_views;

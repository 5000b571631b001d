/* daemon/ops/table.c - the table of steps, sorted by name, for pl_op_find. */
#include "daemon/ops/table.h"

const struct pl_op *const pl_ops[] = {
	&pl_op_batch,
	&pl_op_cast,
	&pl_op_center_crop,
	&pl_op_color_jitter,
	&pl_op_crop_audio,
	&pl_op_decode_audio,
	&pl_op_decode_image,
	&pl_op_delay,
	&pl_op_drop,
	&pl_op_filter,
	&pl_op_gaussian_blur,
	&pl_op_grayscale,
	&pl_op_group,
	&pl_op_normalize,
	&pl_op_one_of,
	&pl_op_pad,
	&pl_op_random_crop,
	&pl_op_random_erasing,
	&pl_op_random_flip,
	&pl_op_random_resized_crop,
	&pl_op_rearrange,
	&pl_op_reduce,
	&pl_op_repeat,
	&pl_op_resize,
	&pl_op_select,
	&pl_op_shuffle,
	&pl_op_skip,
	&pl_op_solarize,
	&pl_op_take,
	&pl_op_trace,
	&pl_op_views,
};

const size_t pl_n_ops = PL_ARRAY_LEN(pl_ops);

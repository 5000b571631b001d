#!/usr/bin/env python3
"""Makes tests/golden/images: small pictures, and what Pillow makes of them. Needs Pillow and numpy; the tests don't."""
import io
import pathlib

import numpy as np
from PIL import Image, ImageOps

OUT = pathlib.Path(__file__).resolve().parent / "images"
FILTERS = {
    "nearest": Image.Resampling.NEAREST, "box": Image.Resampling.BOX, "bilinear": Image.Resampling.BILINEAR,
    "hamming": Image.Resampling.HAMMING, "bicubic": Image.Resampling.BICUBIC, "lanczos": Image.Resampling.LANCZOS,
}
JPEGS = {  # name: mode, (width, height), options
    "420": ("RGB", (37, 29), {"quality": 85, "subsampling": 2}),
    "422": ("RGB", (33, 17), {"quality": 60, "subsampling": 1}),
    "444_low": ("RGB", (16, 16), {"quality": 5, "subsampling": 0}),
    "progressive": ("RGB", (41, 23), {"quality": 90, "subsampling": 2, "progressive": True}),
    "grey": ("L", (19, 31), {"quality": 75}),
    "cmyk": ("CMYK", (21, 9), {"quality": 80}),
    "one_column": ("RGB", (1, 40), {"quality": 95, "subsampling": 2}),
}
WEBPS = {  # name: mode, (width, height), options
    "lossy": ("RGB", (37, 29), {"quality": 80}),
    "lossy_alpha": ("RGBA", (33, 18), {"quality": 60}),
    "lossless": ("RGB", (41, 23), {"lossless": True}),
    "lossless_alpha": ("RGBA", (19, 31), {"lossless": True, "exact": True}),
    "turned": ("RGB", (21, 12), {"quality": 90, "exif": b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"}),
}
SIZES = [(9, 14), (40, 31), (23, 60), (5, 31), (1, 1)]  # height, width, from 23 x 31


def photo(width, height, seed):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    waves = [128 + 100 * np.sin(x / 9 + c) * np.cos(y / 7 - c) for c in range(3)]
    noise = rng.normal(0, 15, (height, width, 3))
    return (np.stack(waves, -1) + noise).clip(0, 255).astype("u1")


def main():
    OUT.mkdir(exist_ok=True)
    index = []
    for name, (mode, size, options) in JPEGS.items():
        data = io.BytesIO()
        Image.fromarray(photo(*size, len(name))).convert(mode).save(data, "JPEG", **options)
        (OUT / f"{name}.jpg").write_bytes(data.getvalue())
        picture = Image.open(io.BytesIO(data.getvalue())).convert("RGB")
        for channels, wanted in (("rgb", "RGB"), ("grey", "L")):
            np.save(OUT / f"{name}_{channels}.npy", np.array(picture.convert(wanted)))
            index.append(("decode", f"{name}.jpg", channels, "-", f"{name}_{channels}.npy"))
    for name, (mode, size, options) in WEBPS.items():
        data = io.BytesIO()
        picture = Image.fromarray(photo(*size, len(name))).convert(mode)
        if mode == "RGBA":
            picture.putalpha(Image.fromarray(photo(*size, 99)[:, :, 0]))
        picture.save(data, "WEBP", **options)
        (OUT / f"{name}.webp").write_bytes(data.getvalue())
        picture = ImageOps.exif_transpose(Image.open(io.BytesIO(data.getvalue())))
        for channels, wanted in (("rgb", "RGB"), ("grey", "L"), ("rgba", "RGBA")):
            rgb = picture if wanted == "RGBA" else picture.convert("RGB")
            np.save(OUT / f"{name}_webp_{channels}.npy", np.array(rgb.convert(wanted)))
            index.append(("decode", f"{name}.webp", channels, "-", f"{name}_webp_{channels}.npy"))
    source = photo(31, 23, 7)
    source[5:9, 3:20] = 255 * (source[5:9, 3:20] > 128)
    np.save(OUT / "source.npy", source)
    for name, code in FILTERS.items():
        for height, width in SIZES:
            file = f"{name}_{height}x{width}.npy"
            np.save(OUT / file, np.array(Image.fromarray(source).resize((width, height), code)))
            index.append(("resize", "source.npy", name, f"{height}x{width}", file))
    lines = ["\t".join(row) + "\n" for row in index]
    (OUT / "index.tsv").write_text("what\tinput\tchannels or filter\tsize\texpected\n" + "".join(lines))


main()

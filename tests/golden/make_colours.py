#!/usr/bin/env python3
"""Makes tests/golden/colours: what torchvision and Pillow make of a picture's colours. Needs torchvision, Pillow and numpy; the tests don't."""
import itertools
import pathlib

import numpy as np
import torch
from PIL import Image
from torchvision.transforms import functional as F

GOLDEN = pathlib.Path(__file__).resolve().parent
OUT = GOLDEN / "colours"
CHANGES = {
    "brightness": (F.adjust_brightness, [0, 0.3, 0.95, 1, 1.4, 3]),
    "contrast": (F.adjust_contrast, [0, 0.3, 0.95, 1, 1.4, 3]),
    "saturation": (F.adjust_saturation, [0, 0.3, 0.95, 1, 1.4, 3]),
    "hue": (F.adjust_hue, [-0.5, -0.21, -0.003, 0.1, 0.5]),
}
CHAIN = {"brightness": 1.35, "contrast": 0.7, "saturation": 1.6, "hue": -0.15}
BLURS = [(3, 0.1), (3, 0.8), (9, 2), (23, 0.7), (23, 2), (5, 10)]  # kernel, sigma


def colours():
    """Every corner of the cube and what lies beside it, then any colours."""
    corners = np.array(list(itertools.product([0, 1, 127, 128, 254, 255], repeat=3)), "u1")
    rest = np.random.default_rng(3).integers(0, 256, (40 * 30 - len(corners), 3), "u1")
    return np.concatenate([corners, rest]).reshape(30, 40, 3)


def main():
    OUT.mkdir(exist_ok=True)
    index = []

    def keep(what, source, argument, array):
        file = f"{what}_{source}_{argument}.npy".replace(" ", "")
        np.save(OUT / file, np.ascontiguousarray(array))
        index.append((what, source, str(argument), file))

    rgb = colours()
    photo = np.load(GOLDEN / "images/source.npy")
    np.save(OUT / "rgb.npy", rgb)
    np.save(OUT / "photo.npy", photo)
    np.save(OUT / "grey.npy", rgb[:, :, 0])
    pictures = {"rgb": Image.fromarray(rgb), "photo": Image.fromarray(photo), "grey": Image.fromarray(rgb[:, :, 0])}
    for what, (change, factors) in CHANGES.items():
        for factor in factors:
            keep(what, "rgb", factor, change(pictures["rgb"], factor))
            if factor in (0.3, 1.4, -0.21, 0.1):
                keep(what, "photo", factor, change(pictures["photo"], factor))
                keep(what, "grey", factor, change(pictures["grey"], factor))
    for source in ("rgb", "grey"):
        keep("grayscale", source, "-", F.to_grayscale(pictures[source], 3))
        for threshold in (0, 100, 128, 256):
            keep("solarize", source, threshold, F.solarize(pictures[source], threshold))
    for kernel, sigma in BLURS:
        keep("gaussian_blur", "photo", f"{kernel} {sigma}", F.gaussian_blur(pictures["photo"], kernel, sigma))
        exact = F.gaussian_blur(torch.from_numpy(photo).permute(2, 0, 1).float(), kernel, sigma)
        keep("gaussian_blur_f32", "photo", f"{kernel} {sigma}", exact.permute(1, 2, 0).numpy())
    orders = []
    for order in itertools.permutations(CHAIN):
        picture = pictures["photo"]
        for what in order:
            picture = CHANGES[what][0](picture, CHAIN[what])
        orders.append(np.array(picture))
    np.save(OUT / "orders.npy", np.stack(orders))
    lines = ["\t".join(row) + "\n" for row in index]
    (OUT / "index.tsv").write_text("what\tsource\targument\texpected\n" + "".join(lines))


main()

"""tests/bench/peer_torch.py - PyTorch's DataLoader on the same task: range(n) -> x * 2 -> batches of 256, two workers. Prints samples_per_s=."""
import sys, time
import torch
from torch.utils.data import DataLoader, Dataset


class Range(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i * 2


def main(seconds):
    loader = DataLoader(Range(1_000_000), batch_size=256, num_workers=2, persistent_workers=True)
    began, n = None, 0
    while True:
        for i, batch in enumerate(loader):
            t = time.monotonic()
            if began is None and i >= 20:
                began, n = t, 0
            n += len(batch)
            if began is not None and t - began >= seconds:
                print(f"samples_per_s={n / (t - began):.0f}")
                return


main(float(sys.argv[1]))

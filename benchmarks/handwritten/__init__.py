"""Kernels written by hand, as the literature has them, beside egglift's for the same programs."""

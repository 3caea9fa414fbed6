"""Lengths at which programs are tried: edges, odd ones, powers of two and their neighbours."""

VECTOR = (1, 2, 7, 1000, 4097, 2**20 - 1, 2**20, 2**20 + 1, 2**24 - 1, 2**24, 2**24 + 1)
#: sides of square matrices: 4096 squared is 2**24
SIDE = (1, 2, 7, 1000, 1023, 1024, 1025, 4095, 4096, 4097)

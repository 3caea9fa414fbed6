"""Shapes at which programs of several lengths are tried: tiny, odd and prime, rectangular, powers of two.

The first few are small enough for every run of the tests.
"""

#: rows and columns of the product, and the length of the sums
PRODUCT = (
    (1, 1, 1),
    (3, 17, 2),
    (17, 13, 19),
    (1, 127, 3),
    (127, 127, 127),
    (128, 64, 96),
    (33, 1, 257),
    (512, 512, 512),
    (1000, 1003, 997),
    (1024, 1024, 1024),
    (2048, 512, 1024),
)
#: points of one set, points of the other, coordinates of each
PAIRS = ((1, 1, 1), (3, 17, 2), (17, 13, 16), (127, 257, 3), (1000, 1003, 17), (1024, 1024, 16), (4096, 2048, 16))
#: bodies
BODIES = ((1,), (2,), (17,), (127,), (1000,), (1024,), (4096,))
#: rows and columns of a grid
GRID = ((1, 1), (3, 17), (37, 41), (127, 129), (1000, 1003), (4096, 4096), (4097, 4095), (8192, 8192))
#: layers, rows and columns of a grid in space
VOLUME = ((1, 1, 1), (3, 5, 17), (13, 11, 19), (65, 66, 67), (256, 256, 256), (255, 257, 254), (512, 512, 512))

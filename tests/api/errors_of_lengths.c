/* Calls an exported `gemv` of n = 4, 8, ..., 64 rows and m = 0, 1, ..., 100 columns in wrong and in right ways. */
#include "gemv.h"

#include <stdio.h>
#include <string.h>

static int wrong = 0;

static void expect(int line, int found, int wanted, const char *message, const char *part)
{
    if (found == wanted && strstr(message, part) != NULL)
        return;
    printf("line %d: code %d for %d, '%s' for '%s'\n", line, found, wanted, message, part);
    wrong = 1;
}

#define EXPECT(call, code, part) \
    do { \
        const int found = (call); \
        expect(__LINE__, found, code, found == GEMV_OK ? "" : gemv_message(h), part); \
    } while (0)

static cl_mem buffer(gemv_handle *h, size_t bytes)
{
    return clCreateBuffer(gemv_context(h), CL_MEM_READ_WRITE, bytes, NULL, NULL);
}

int main(void)
{
    static float A[64 * 100], v[100], out[64];
    char message[300];
    size_t n, m, i;
    gemv_handle *h;
    cl_mem a, b, c;
    EXPECT(gemv_init(&h, NULL), GEMV_OK, "");
    for (i = 0; i < 6400; i++)
        A[i] = 1.0f;
    for (i = 0; i < 100; i++)
        v[i] = 2.0f;
    EXPECT(gemv_run(h, 3, 6, A, 18, v, 3, out, 6), GEMV_WRONG_LENGTH, "n is 6; it may be n = 4, 8, ..., 64");
    EXPECT(gemv_run(h, 3, 68, A, 204, v, 3, out, 68), GEMV_WRONG_LENGTH, "n is 68; it may be");
    EXPECT(gemv_run(h, 3, 0, A, 0, v, 3, out, 0), GEMV_WRONG_LENGTH, "n is 0; it may be");
    EXPECT(gemv_run(h, 101, 4, A, 404, v, 101, out, 4), GEMV_WRONG_LENGTH, "m is 101; it may be m = 0, 1, ..., 100");
    EXPECT(gemv_run(h, 3, 4, A, 11, v, 3, out, 4), GEMV_WRONG_LENGTH,
        "A has 11 elements, 12 are wanted: it has (n * m) elements, where m is 3, n is 4; give lengths and arrays");
    EXPECT(gemv_run(h, 3, 4, A, 12, v, 3, out, 3), GEMV_WRONG_LENGTH, "out has 3 elements, 4 are wanted");
    EXPECT(gemv_run(h, 3, 4, A, 12, NULL, 3, out, 4), GEMV_WRONG_LENGTH, "v is NULL");
    EXPECT(gemv_run_once(NULL, 3, 5, A, 15, v, 3, out, 5, message, sizeof message), GEMV_WRONG_LENGTH, "");
    expect(__LINE__, 0, 0, message, "n is 5; it may be");
    for (n = 4; n <= 64; n += 20)
        for (m = 0; m <= 100; m += 25) {
            memset(out, 0xff, sizeof out);
            EXPECT(gemv_run(h, m, n, A, n * m, v, m, out, n), GEMV_OK, "");
            for (i = 0; i < n; i++)
                expect(__LINE__, out[i] == 2.0f * (float)m, 1, "a wrong result", "");
        }
    a = buffer(h, 48), b = buffer(h, 12), c = buffer(h, 16);
    EXPECT(gemv_enqueue(h, NULL, 3, 4, a, b, c, 0, NULL, NULL), GEMV_OK, "");
    EXPECT(gemv_finish(h), GEMV_OK, "");
    EXPECT(gemv_enqueue(h, NULL, 3, 8, a, b, c, 0, NULL, NULL), GEMV_WRONG_LENGTH,
        "buffer A has 48 bytes, 96 are wanted: it has (n * m) elements, where m is 3, n is 8");
    clReleaseMemObject(a), clReleaseMemObject(b), clReleaseMemObject(c);
    gemv_release(h);
    return wrong;
}

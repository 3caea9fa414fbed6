/* Several threads run an exported `axpy`, each with a handle of its own and other numbers.
 * PoCL is opened before: it is not made for several first calls at once. */
#include "axpy.h"

#include <pthread.h>
#include <stdio.h>

enum { N = 100, THREADS = 4, TIMES = 50 };

static void *work(void *given)
{
    const float factor = *(const float *)given;
    float x[N], y[N], out[N];
    axpy_handle *h;
    int i, t, result = axpy_init(&h, NULL);
    for (t = 0; t < TIMES && result == AXPY_OK; t++) {
        for (i = 0; i < N; i++)
            x[i] = factor * (float)i, y[i] = (float)t, out[i] = -1.0f;
        result = axpy_run(h, x, N, y, N, out, N);
        for (i = 0; i < N; i++)
            if (out[i] != 2.0f * x[i] + y[i])
                result = -1;
    }
    if (result != AXPY_OK)
        printf("code %d: %s\n", result, axpy_message(h));
    axpy_release(h);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    float factors[THREADS];
    axpy_handle *first;
    int i;
    axpy_init(&first, NULL);
    for (i = 0; i < THREADS; i++) {
        factors[i] = (float)(i + 1);
        pthread_create(&threads[i], NULL, work, &factors[i]);
    }
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    axpy_release(first);
    return 0;
}

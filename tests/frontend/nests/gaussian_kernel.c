/* A sum of Gaussian kernels and its derivatives at points (Jepsen). */
#include <math.h>

void gaussian_kernel(int n, int m, const float *x, const float *u, const float *weight, float *value, float *first,
                     float *second)
{
    for (int i = 0; i < n; i++) {
        float k0 = 0.0f, k1 = 0.0f, k2 = 0.0f;
        for (int j = 0; j < m; j++) {
            const float t = x[i] - u[j];
            const float k = weight[j] * expf(-0.5f * t * t);
            k0 += k;
            k1 -= t * k;
            k2 += (t * t - 1.0f) * k;
        }
        value[i] = k0;
        first[i] = k1;
        second[i] = k2;
    }
}

/* A step of Jacobi's method for a grid with a right-hand side; the border stays (Jepsen). */
void jacobi(unsigned n, const float *restrict x, const float *restrict b, float *restrict y)
{
    for (unsigned i = 1; i < n - 1; i++) {
        for (unsigned j = 1; j < n - 1; j++) {
            y[i * n + j] = 0.25f * (x[(i - 1) * n + j] + x[(i + 1) * n + j] + x[i * n + j - 1] + x[i * n + j + 1]
                                    - b[i * n + j]);
        }
    }
}

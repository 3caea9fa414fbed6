/* C = A B, matrices as pointers (Jepsen). */
void product(unsigned hA, unsigned wA, unsigned wB, const float *A, const float *B, float *C)
{
    for (unsigned i = 0; i < hA; i++) {
        for (unsigned j = 0; j < wB; j++) {
            float sum = 0.0;
            for (unsigned k = 0; k < wA; k++) {
                sum += A[i * wA + k] * B[j + k * wB];
            }
            C[wB * i + j] = sum;
        }
    }
}

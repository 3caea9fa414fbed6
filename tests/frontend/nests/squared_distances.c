/* The squared distances of test patterns to training patterns (Jepsen). */
void squared_distances(size_t NTEST, size_t NTRAIN, size_t dim, const float test_patterns[NTEST][dim],
                       const float train_patterns[NTRAIN][dim], float dist_matrix[NTRAIN][NTEST])
{
    for (size_t i = 0; i < NTEST; i++) {
        for (size_t j = 0; j < NTRAIN; j++) {
            float d = 0.0;
            for (size_t k = 0; k < dim; k++) {
                float tmp = test_patterns[i][k] - train_patterns[j][k];
                d += tmp * tmp;
            }
            dist_matrix[j][i] = d;
        }
    }
}

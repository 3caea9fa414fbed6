/* What people write beside plain nests: macros, variables of the file, tiles by hand, pointers to rows. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#ifndef SIZE
#define SIZE 6
#endif
#ifdef NOT_DEFINED
#define WIDTH 17
#else
#define WIDTH (SIZE - 2)
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define AT(i, j) ((i) * n + (j))
#define A_AT(i, j) A[AT(i, j)]
#define SUM SIZE + 1
#define INLINE inline

double matrix[SIZE][SIZE], vector[SIZE];
static const float weights[3] = {0.25f, 0.5f, 0.25f};
static const int offset = 1;

void macros_with_parameters(int n, const float *A, float *B) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            B[AT(i, j)] = MAX(A_AT(j, i), MIN(0.25f, A_AT(i, j)));
}

void macros_where_they_stay_together(int n, const float *A, float *B) {
    for (int i = 0; i < WIDTH; i++)
        B[i] = SUM + A[i] + WIDTH * 2;
}

void variables_of_the_file(void) {
    for (int i = 0; i < SIZE; i++) {
        vector[i] = 0;
        for (int j = 0; j < SIZE; j++)
            vector[i] += matrix[i][j];
    }
}

static INLINE float weighted(const float *x) {
    float s = 0;
    for (int k = 0; k < 3; k++)
        s += weights[k] * x[k];
    return s;
}
void constants_of_the_file(int n, const float *A, float *B) {
    for (int i = offset; i < n - offset; i++)
        B[i] = weighted(&A[i - 1]) + weighted(A + i - 1);
}

void pointers_to_rows(int n, const float *A, float *B) {
    for (int i = 0; i < n; i++) {
        const float *row = A + i * n, *first = row;
        float *out = &B[n - 1 - i];
        float s = first[0];
        for (int j = 1; j < n; j++)
            s += row[j] * first[j - 1];
        *out = s;
    }
}

void rows_of_a_matrix(int n, double A[n][n], double *B) {
    for (int i = 0; i < n; i++) {
        double *row = A[i], *second = &A[i][1];
        B[i] = row[0] - second[n - 2];
        row[0] = i;
    }
}

void memory_of_its_own(int n, const double *A, double *B) {
    double *t = (double *)malloc(n * sizeof(double));
    for (int i = 0; i < n; i++)
        t[i] = A[i] * 2;
    for (int i = 0; i < n; i++)
        B[i] = t[n - 1 - i];
    free(t);
}

void some_are_passed_over(int n, const float *A, float *B) {
    for (int i = 0; i < n; i++) {
        if (A[i] < 0)
            continue;
        B[i] = A[i] * 2;
        if (i > 4) {
            B[i] += 1;
            continue;
        } else
            B[i] -= 1;
        B[i] *= 3;
    }
}

void tiles_by_hand(int n, const double A[n][n], const double B[n][n], double C[n][n]) {
    for (int ii = 0; ii < n; ii += 3)
        for (int jj = 0; jj < n; jj += 3)
            for (int kk = 0; kk < n; kk += 3)
                for (int i = ii; i < ii + 3; i++)
                    for (int j = jj; j < jj + 3; j++)
                        for (int k = kk; k < kk + 3; k++)
                            C[i][j] += A[i][k] * B[k][j];
}

void tiles_that_do_not_fit(int n, const double x[n], double A[n][n]) {
    for (int ii = 0; ii < n; ii += 4)
        for (int jj = 0; jj < n; jj += 4)
            for (int i = ii; i < MIN(ii + 4, n); i++)
                for (int j = jj; j < MIN(n, jj + 4); j++)
                    A[i][j] = x[i] * j - x[j];
}

void tiles_downwards(int n, const double *x, double *y) {
    for (int ii = n - 1; ii >= 0; ii -= 3)
        for (int i = ii; i > ii - 3; i--)
            y[i] = x[i] + i;
}

void a_band_is_summed(int n, const double A[n][n], double y[n]) {
    for (int i = 0; i < n; i++)
        for (int j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < n)
                y[i] += A[i][j];
}

void a_band_is_written(int n, double A[n][n]) {
    for (int i = 0; i < n; i++)
        for (int j = MAX(i - 1, 0); j <= MIN(i + 1, n - 1); j++)
            A[i][j] = i * 10 + j;
}

void fewer_than_the_loop_runs(int n, float A[5], const float B[9]) {
    for (int i = 0; i < n; i++)
        if (i < 5)
            A[i] += B[i];
}

void before_the_first(int n, float A[5], const float B[9]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i > 3)
                A[i - 4] = B[j] * A[i - 4] + 1;
}

void the_place_of_the_largest_in_memory(int n, const double x[n], double *m, int *at) {
    *m = x[0];
    *at = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > *m) {
            *m = x[i];
            *at = i;
        }
}

void the_nearest_of_each(int n, int m, const float *x, const float *c, int *nearest, float *distance) {
    for (int i = 0; i < n; i++) {
        float least = INFINITY;
        int at = -1;
        for (int j = 0; j < m; j++) {
            float s = 0;
            for (int k = 0; k < 3; k++) {
                float t = x[i * 3 + k] - c[j * 3 + k];
                s += t * t;
            }
            if (s < least) {
                least = s;
                at = j;
            }
        }
        nearest[i] = at;
        distance[i] = least;
    }
}

void largest_else_smallest(int n, int m, const float A[n][m], float *high, float *low) {
    for (int i = 0; i < n; i++) {
        high[i] = low[i] = A[i][0];
        for (int j = 1; j < m; j++) {
            if (A[i][j] > high[i])
                high[i] = A[i][j];
            else if (A[i][j] < low[i])
                low[i] = A[i][j];
        }
    }
}

void several_things_of_the_best(int n, int m, const float A[n][m], const int w[n], int *row, int *column, float *best) {
    *best = -1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (w[i] > -5 && A[i][j] > *best) {
                *best = A[i][j];
                *row = i + w[j];
                *column = j;
            }
}

void the_last_of_equal_numbers(int n, const int *x, int *least, int *at) {
    int m = x[0];
    for (int i = 1; i < n; i++)
        if (x[i] <= m) {
            m = x[i];
            *at = 2 * i;
        }
    *least = m;
}

int a_place_among_nothing(int n, const float *x) {
    float m = NAN;
    int at = -1;
    for (int i = 0; i < n; i++)
        if (x[i] > m) {
            m = x[i];
            at = i;
        }
    return at;
}

int a_place_that_is_asked_again(int n, const float *x) {
    float m = x[0];
    int at = 0;
    for (int i = 1; i < n; i++) {
        if (x[i] < m)
            m = x[i];
        if (x[i] < m)
            at = i;
    }
    return at;
}

void steps_that_are_recorded(int n, int T, double *u, const double *x, double e[T], double history[T][n]) {
    for (int t = 0; t < T; t++) {
        for (int i = 1; i < n - 1; i++)
            u[i] = u[i] * 0.5 + 0.25 * x[n - 1 - i] * (t + 1);
        double s = 0;
        for (int i = 0; i < n; i++)
            s += u[i] * u[i];
        e[t] = s;
        for (int i = 0; i < n; i++)
            history[T - 1 - t][i] = u[i];
    }
}

void steps_that_shrink(int n, int T, double *u, double *v) {
    for (int t = 1; t <= T; t++) {
        for (int i = t; i < n - t; i++)
            v[i] = u[i - 1] + u[i + 1];
        for (int i = t; i < n - t; i++)
            u[i] = v[i] - t * v[0];
    }
}

void steps_in_turn(int n, int T, double *u, double *v) {
    for (int t = 0; t < T; t++) {
        if (t % 2 == 0)
            for (int i = 1; i < n - 1; i++)
                v[i] = u[i - 1] + u[i + 1];
        else
            for (int i = 1; i < n - 1; i++)
                u[i] = v[i - 1] + v[i + 1];
    }
}

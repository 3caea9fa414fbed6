/* The subset of C that is taken: each function is compared with what gcc makes of it. */
#include <math.h>
#include <stddef.h>

#define W 3
#define REAL float

void downwards(int n, const float *A, float *B) {
    for (int i = n - 1; i >= 0; i--)
        B[i] = A[n - 1 - i];
}

void every_second_place(int n, const float A[n], float B[n]) {
    for (int i = 0; i < n; i += 2)
        B[n-1-i] = A[i] + 1;
}

void pairs_of_elements(int n, const float A[2*n], float B[n]) {
    for (int i = 0; i < n; i++)
        B[i] = A[2*i] - A[2*i+1];
}

void up_to_and_including(int n, const float A[2*n], float B[n]) {
    for (int i = 0; i <= n-1; ++i)
        B[i] = A[i];
}

void a_local_array(int n, const float A[n], float B[n]) {
    for (int i = 0; i != n; ++i) {
        float w[3] = {1, 2.5f};
        w[2] = A[i];
        float s = 0;
        for (int k = 0; k < 3; k++)
            s += w[k]*w[2-k];
        B[i] = s;
    }
}

void integers(int n, const signed char *A, const unsigned char *U, int *B) {
    for (int i = 0; i < n; i++)
        B[i] = A[i] / 3 + A[i] % 3 + (U[i] << 2) - (A[i] >> 1) + (A[i] & U[i]) + ~A[i] + (A[i] ^ 5) +
        (A[i] | 2);
}

void if_and_else(int n, const int *A, float *B) {
    for (int i = 0; i < n; i++) {
        float v = 0;
        if (A[i] > 2)
            v = A[i];
        else if (A[i] < -2)
            v = -2.0f * A[i];
        B[i] = v;
    }
}

void kept_where_a_condition_fails(int n, const float *A, float *B) {
    for (int i = 0; i < n; i++) {
        if (A[i] > 0 && i > 2)
            B[i] = A[i];
        else
            B[i] += 1;
    }
}

float the_largest(int n, const float *A) {
    float m = A[0];
    for (int i = 1; i < n; i++)
        if (A[i] > m)
            m = A[i];
    return m;
}

float the_smallest_by_fmin(int n, const float *A) {
    float m = 1e30f;
    for (int i = 1; i < n; i++)
        m = fminf(m, A[i]);
    return m;
}

int the_place_of_the_largest(int n, const float *A) {
    float m = A[0];
    int at = 0;
    for (int i = 1; i < n; i++)
        if (A[i] > m) {
            m = A[i];
            at = i;
        }
    return at;
}

double a_sum_that_is_returned(int n, const double *x, const double *y) {
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}

double a_recurrence_of_a_number(int n, const double *x, double c) {
    double s = 1;
    for (int i = 0; i < n; i++)
        s = s * c + x[i];
    return s;
}

void a_gather(int n, const int *idx, const float *A, float *B) {
    for (int i = 0; i < n; i++)
        B[i] = A[idx[i]];
}

void a_diagonal(int n, const float A[n][n], float B[n]) {
    for (int i = 0; i < n; i++)
        B[i] = A[i][i];
}

void written_transposed(int n, const float A[n][n], float B[n][n]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            B[j][i] = A[i][j];
}

void a_triangle(int n, const float A[n][n], float B[n]) {
    for (int i = 0; i < n; i++) {
        B[i] = 0;
        for (int j = 0; j <= i; j++)
            B[i] += A[i][j];
    }
}

void the_other_triangle_backwards(int n, const float A[n][n], float B[n]) {
    for (int i = 0; i < n; i++) {
        B[i] = 0;
        for (int j = i; j < n; j++)
            B[i] += A[j][n-1-i];
    }
}

void a_convolution(int n, const float A[n], float B[n]) {
    for (int i = 0; i < n - 4; i++) {
        float s = 0;
        for (int k = 0; k < 5; k++)
            s += A[i + k] * (k + 1);
        B[i + 2] = s;
    }
}

void an_exchange(int n, float A[n], float B[n]) {
    for (int i = 0; i < n; i++) {
        float t = A[i];
        A[i] = B[i];
        B[i] = t;
    }
}

void in_place_from_the_right(int n, float A[n]) {
    for (int i = 0; i < n - 1; i++)
        A[i] = A[i + 1] + 1;
}

float the_last_value(int n, float A[n]) {
    float last = 0;
    for (int i = 0; i < n; i++)
        last = A[i] * i;
    return last;
}

void tiled_by_hand(int n, const float A[n], float B[n]) {
    for (int ii = 0; ii < n; ii += 4)
        for (int i = 0; i < 4; i++)
            B[ii + i] = 2 * A[ii + i];
}

static float square(float x) {
    return x * x;
}
static float of_functions_over_rows(const float *r, int n) {
    float s = 0;
    for (int k = 0; k < n; k++)
        s += square(r[k]);
    return s;
}
void functions_over_rows(int n, const float A[n][5], float B[n]) {
    for (int i = 0; i < n; i++)
        B[i] = of_functions_over_rows(A[i], 5);
}

static float of_returns_in_ifs(float x) {
    if (x > 0.5f)
        return x;
    if (x < -0.5f) {
        float y = -x;
        return y * 2;
    }
    return 0;
}
void returns_in_ifs(int n, const float *A, float *B) {
    for (int i = 0; i < n; i++)
        B[i] = of_returns_in_ifs(A[i]);
}

void names_of_constants_and_types(int n, const REAL *A, REAL *B) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < W; j++)
            B[i * W + j] = A[j * n + i] * W;
}

void a_sum_over_two_loops(int n, int m, const float A[n][m], float *s) {
    *s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            *s += A[i][j];
}

void a_window_in_two_dimensions(int n, int m, const float A[n][m], const float K[3][3], float B[n][m]) {
    for (int i = 1; i < n-1; i++)
        for (int j = 1; j < m-1; j++) {
            float s = 0;
            for (int a = -1; a <= 1; a++)
                for (int b = -1; b <= 1; b++)
                    s += A[i+a][j+b] * K[a+1][b+1];
            B[i][j] = s;
        }
}

void a_condition_around_loops(int n, float A[n], float c) {
    if (c > 0)
        for (int i = 0; i < n; i++)
            A[i] = A[i] * c;
    else
        for (int i = 0; i < n; i++) A[i] = 0;
}

void a_condition_that_is_overwritten(int n, float A[n]) {
    if (A[0] > 0)
        for (int i = 0; i < n; i++)
            A[i] = -A[i];
}

void two_counts(int n, const int *A, int *hist) {
    int odd = 0, even = 0;
    for (int i = 0; i < n; i++) {
        if (A[i] & 1)
            odd++;
        else
            even++;
    }
    hist[0] = odd;
    hist[1] = even;
}

void unsigned_numbers(int n, unsigned A[n], unsigned B[n]) {
    for (int i = 0; i < n; i++)
        B[i] = A[i] * 2654435761u >> 7;
}

void short_numbers(int n, short A[n], short B[n]) {
    for (int i = 0; i < n; i++) {
        B[i] = A[i] * 30000;
        B[i] += A[i] * 1000;
    }
}

void doubles_among_floats(int n, const float *A, float *B) {
    for (int i = 0; i < n; i++)
        B[i] = 0.1 * A[i] + 1.0 / 3.0;
}

void iterators_as_numbers(int n, float B[n]) {
    for (int i = 0; i < n; i++)
        B[i] = i * i % 7 - i / 2;
}

float largest_of_rows_summed(int n, const float A[n][n]) {
    float s = 0;
    for (int i = 0; i < n; i++) {
        float m = A[i][0];
        for (int j = 1; j < n; j++)
            m = A[i][j] > m ? A[i][j] : m;
        s += m;
    }
    return s;
}

void softmax_of_rows(int n, const float A[n][n], float B[n][n]) {
    for (int i = 0; i < n; i++) {
        float m = -1e30f;
        for (int j = 0; j < n; j++)
            if (A[i][j] > m)
                m = A[i][j];
        float s = 0;
        for (int j = 0; j < n; j++) {
            B[i][j] = expf(A[i][j] - m);
            s += B[i][j];
        }
        for (int j = 0; j < n; j++)
            B[i][j] /= s;
    }
}

void steps_over_a_local_array(int n, int T, float A[n]) {
    float B[8];
    for (int t = 0; t < T; t++) {
        for (int i = 0; i < n; i++)
            B[i] = A[n-1-i];
        for (int i = 0; i < n; i++)
            A[i] = B[i] * 0.5f + 1;
    }
}

void temporaries_declared_before(int n, const float *A, float *B) {
    int i;
    float t;
    for (i = 0; i < n; i++) {
        t = A[i] * 2;
        t = t * t;
        B[i] = t;
    }
}

void a_neighbour_if_there_is_one(int n, const float A[n], float B[n]) {
    for (int i = 0; i < n; i++)
        B[i] = (i > 0 ? A[i - 1] : 0) + (i == n - 1 ? 1 : A[i + 1]);
}

void a_border_by_ifs(int n, const float A[n][n], float B[n][n]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float left = A[i][j], up = A[i][j];
            if (j > 0)
                left = A[i][j - 1];
            if (i >= 1)
                up = A[i - 1][j];
            B[i][j] = left - up;
        }
}

void sums_that_begin_at_different_places(int n, const float A[n], float y[n]) {
    for (int i = 1; i < n; i++) {
        float s = i;
        for (int l = 0; l < n; l++) {
            s += A[l];
            y[i] += s;
        }
    }
}

void iterators_that_wrap_around(int n, int B[n]) {
    for (int i = 0; i < n; i++)
        B[i] = 10 + (unsigned char)-i;
}

void a_diagonal_is_written(int n, float A[n][n]) {
    for (int i = 0; i < n; i++)
        A[i][i] = 1;
}

void every_third_place_of_rows(int n, const float A[n][n], float B[n][n]) {
    for (int i = 1; i < n; i += 3)
        for (int j = 0; j < n; j += 2)
            B[i][j] += A[j][i];
}

/* An operator on a sparse grid applied to a vector; the matrix is computed, not stored (Jepsen). */
#include <math.h>

static inline double overlap(double p, double q, double s, double r)
{
    double fine = p >= q ? p : q;
    double coarse = p >= q ? q : p;
    double at = p >= q ? s : r;
    double top = p >= q ? r : s;
    if (p == q)
        return s == r ? 2.0 / (3.0 * p) : 0.0;
    return fmax(0.0, 1.0 - fabs(coarse * at / fine - top)) / fine;
}

void laplace(unsigned storagesize, unsigned dim, const double scale[storagesize][dim],
             const double index[storagesize][dim], const double x[storagesize], const double weight[dim],
             double result[storagesize])
{
    for (unsigned i = 0; i < storagesize; i++) {
        double sum = 0.0;
        for (unsigned j = 0; j < storagesize; j++) {
            double product = 1.0;
            double gradient = 0.0;
            for (unsigned d = 0; d < dim; d++) {
                double p = scale[i][d];
                double q = scale[j][d];
                double o = overlap(p, q, index[i][d], index[j][d]);
                double g = (p == q && index[i][d] == index[j][d]) ? 2.0 * p : 0.0;
                gradient = gradient * o + product * weight[d] * g;
                product *= o;
            }
            sum += x[j] * gradient;
        }
        result[i] = sum;
    }
}

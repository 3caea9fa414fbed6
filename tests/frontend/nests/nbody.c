/* The forces between bodies in a plane, all pairs (Jepsen). */
#include <math.h>
#define SOFTENING 0.01f

void nbody(unsigned N, const float Mas[N], const float Pos[2][N], float Forces[2][N])
{
    for (unsigned i = 0; i < N; i++) {
        float f_x = 0.0f;
        float f_y = 0.0f;
        for (unsigned j = 0; j < N; j++) {
            float a_x = Pos[0][i];
            float a_y = Pos[1][i];
            float a_m = Mas[i];
            float r_x = Pos[0][j] - a_x;
            float r_y = Pos[1][j] - a_y;
            float d = r_x * r_x + r_y * r_y + SOFTENING;
            float s = a_m * Mas[j] / (sqrtf(d) * d);
            f_x += s * r_x;
            f_y += s * r_y;
        }
        Forces[0][i] = f_x;
        Forces[1][i] = f_y;
    }
}

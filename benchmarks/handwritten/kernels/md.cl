// SHOC's MD: a work-item for every atom; positions are float4, the lists lie turned: the j-th neighbours side by side.
kernel void forces(global const float4 *atoms, global const int *near, global float *fx, global float *fy,
                   global float *fz, int n, int k) {
  int i = get_global_id(0);
  if (i >= n) {
    return;
  }
  float4 p = atoms[i];
  float sx = 0.0f, sy = 0.0f, sz = 0.0f;
  for (int j = 0; j < k; ++j) {
    float4 q = atoms[near[j * n + i]];
    float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
    float square = dx * dx + dy * dy + dz * dz;
    if (square > 0.0f && square < CUTOFF) {
      float inverse = 1.0f / square;
      float sixth = inverse * inverse * inverse;
      float strength = inverse * sixth * (REPULSION * sixth - ATTRACTION);
      sx += dx * strength;
      sy += dy * strength;
      sz += dz * strength;
    }
  }
  fx[i] = sx;
  fy[i] = sy;
  fz[i] = sz;
}

// Positions apart, a list after the other: LANES work-items share the list of an atom, and add up in local memory.
kernel void forces(global const float *x, global const float *y, global const float *z, global const int *near,
                   global float *fx, global float *fy, global float *fz, int n, int k) {
  local float4 part[GROUP];
  int lid = get_local_id(0);
  int lane = lid % LANES;
  int i = get_global_id(0) / LANES;
  float px = i < n ? x[i] : 0.0f, py = i < n ? y[i] : 0.0f, pz = i < n ? z[i] : 0.0f;
  float4 sum = 0.0f;
  for (int j = lane; j < (i < n ? k : 0); j += LANES) {
    int other = near[i * k + j];
    float dx = px - x[other], dy = py - y[other], dz = pz - z[other];
    float square = dx * dx + dy * dy + dz * dz;
    if (square > 0.0f && square < CUTOFF) {
      float inverse = 1.0f / square;
      float sixth = inverse * inverse * inverse;
      float strength = inverse * sixth * (REPULSION * sixth - ATTRACTION);
      sum += (float4)(dx, dy, dz, 0.0f) * strength;
    }
  }
  part[lid] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_of = LANES / 2; half_of > 0; half_of /= 2) {
    if (lane < half_of) {
      part[lid] += part[lid + half_of];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0 && i < n) {
    fx[i] = part[lid].x;
    fy[i] = part[lid].y;
    fz[i] = part[lid].z;
  }
}

// All pairs: a group copies GROUP bodies at a time to local memory; a work-item computes the pulls on EACH bodies.
kernel void pulls(global const float *x, global const float *y, global const float *z, global const float *mass,
                  global float *ax, global float *ay, global float *az, int n) {
  local float4 tile[GROUP];
  int lid = get_local_id(0);
  int first = get_group_id(0) * (GROUP * EACH) + lid;
  float px[EACH], py[EACH], pz[EACH], sx[EACH], sy[EACH], sz[EACH];
  for (int e = 0; e < EACH; ++e) {
    int i = min(first + e * GROUP, n - 1);
    px[e] = x[i];
    py[e] = y[i];
    pz[e] = z[i];
    sx[e] = sy[e] = sz[e] = 0.0f;
  }
  for (int start = 0; start < n; start += GROUP) {
    int j = min(start + lid, n - 1);
    tile[lid] = (float4)(x[j], y[j], z[j], start + lid < n ? mass[j] : 0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 16
    for (int k = 0; k < GROUP; ++k) {
      float4 other = tile[k];
#pragma unroll
      for (int e = 0; e < EACH; ++e) {
        float dx = other.x - px[e], dy = other.y - py[e], dz = other.z - pz[e];
        float inverse = rsqrt(dx * dx + dy * dy + dz * dz + SOFTENING);
        float strength = other.w * inverse * inverse * inverse;
        sx[e] += dx * strength;
        sy[e] += dy * strength;
        sz[e] += dz * strength;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int e = 0; e < EACH; ++e) {
    int i = first + e * GROUP;
    if (i < n) {
      ax[i] = sx[e];
      ay[i] = sy[e];
      az[i] = sz[e];
    }
  }
}

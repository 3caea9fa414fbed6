// Neighbours are added first; every second, fourth, eighth ... work-item goes on.
kernel void reduce(global const float *x, global float *sums, int n) {
  local float part[GROUP];
  int lid = get_local_id(0);
  int i = get_global_id(0);
  part[lid] = i < n ? x[i] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < GROUP; step *= 2) {
    if (lid % (2 * step) == 0) {
      part[lid] += part[lid + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lid == 0) {
    sums[get_group_id(0)] = part[0];
  }
}

// Neighbours are added first, by the first half, quarter ... of the work-items, which read local memory by strides.
kernel void reduce(global const float *x, global float *sums, int n) {
  local float part[GROUP];
  int lid = get_local_id(0);
  int i = get_global_id(0);
  part[lid] = i < n ? x[i] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < GROUP; step *= 2) {
    int at = 2 * step * lid;
    if (at < GROUP) {
      part[at] += part[at + step];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lid == 0) {
    sums[get_group_id(0)] = part[0];
  }
}

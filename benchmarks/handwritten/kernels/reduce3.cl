// As 2, but the first addition is made while the elements are read: no work-item idles from the start.
kernel void reduce(global const float *x, global float *sums, int n) {
  local float part[GROUP];
  int lid = get_local_id(0);
  int i = get_group_id(0) * (2 * GROUP) + lid;
  part[lid] = (i < n ? x[i] : 0.0f) + (i + GROUP < n ? x[i + GROUP] : 0.0f);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_of = GROUP / 2; half_of > 0; half_of /= 2) {
    if (lid < half_of) {
      part[lid] += part[lid + half_of];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lid == 0) {
    sums[get_group_id(0)] = part[0];
  }
}

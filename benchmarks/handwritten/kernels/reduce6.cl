// As 5, but a work-item adds many elements, a whole grid apart, before the group adds up: few groups for any length.
#define ADD(half_of)                  \
  if (lid < half_of) {                \
    part[lid] += part[lid + half_of]; \
  }
kernel void reduce(global const float *x, global float *sums, int n) {
  local volatile float part[GROUP];
  int lid = get_local_id(0);
  int i = get_group_id(0) * (2 * GROUP) + lid;
  float sum = 0.0f;
  for (; i < n; i += 2 * GROUP * get_num_groups(0)) {
    sum += x[i] + (i + GROUP < n ? x[i + GROUP] : 0.0f);
  }
  part[lid] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
#if GROUP >= 512
  ADD(256)
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if GROUP >= 256
  ADD(128)
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if GROUP >= 128
  ADD(64)
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  if (LAST(lid)) {
    ADD(32)
    IN_STEP();
    ADD(16)
    IN_STEP();
    ADD(8)
    IN_STEP();
    ADD(4)
    IN_STEP();
    ADD(2)
    IN_STEP();
    ADD(1)
  }
  if (lid == 0) {
    sums[get_group_id(0)] = part[0];
  }
}

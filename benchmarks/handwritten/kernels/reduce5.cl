// As 4, without a loop: how many work-items a group has is known when it is compiled.
#define ADD(half_of)                  \
  if (lid < half_of) {                \
    part[lid] += part[lid + half_of]; \
  }
kernel void reduce(global const float *x, global float *sums, int n) {
  local volatile float part[GROUP];
  int lid = get_local_id(0);
  int i = get_group_id(0) * (2 * GROUP) + lid;
  part[lid] = (i < n ? x[i] : 0.0f) + (i + GROUP < n ? x[i + GROUP] : 0.0f);
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

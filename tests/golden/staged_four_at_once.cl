typedef float4 float4_any __attribute__((aligned(4)));

kernel __attribute__((reqd_work_group_size(4, 1, 1)))
void k0(const global float* restrict M, global float* restrict out) {
  const long w0 = get_group_id(0);
  const long l0 = get_local_id(0);
  local float s0[64] __attribute__((aligned(16)));
  // mapWorkgroup0 over 3
  // toLocal
  #pragma unroll
  for (int i0 = 0; i0 < 4; ++i0) {
    *(local float4*)&s0[16*i0 + 4*l0] = *(const global float4_any*)&M[64*w0 + 16*i0 + 4*l0];
  }
  // mapLocal0 over 64
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i1 = 0; i1 < 16; ++i1) {
    out[64*w0 + 4*i1 + l0] = 2.0f * s0[16*(i1 % 4) + 4*l0 + (i1 / 4)];
  }
}

kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void k0(const global float* restrict x, global float* restrict out) {
  const int w0 = get_group_id(0);
  const int l0 = get_local_id(0);
  local float s0[384] __attribute__((aligned(16)));
  // mapWorkgroup0 over 8
  // toLocal
  // mapLocal0 over 32
  // mapVec over 4
  const float4 t0 = (float4)(x[128*w0 + l0], x[128*w0 + l0 + 32], x[128*w0 + l0 + 64], x[128*w0 + l0 + 96]);
  {
    const float4 v0_0 = t0 + (t0 * (float4)(0.0f));
    s0[3*l0] = v0_0.s0;
    s0[3*l0 + 96] = v0_0.s1;
    s0[3*l0 + 192] = v0_0.s2;
    s0[3*l0 + 288] = v0_0.s3;
  }
  {
    const float4 v0_0 = t0 + (t0 * (float4)(1.0f));
    s0[3*l0 + 1] = v0_0.s0;
    s0[3*l0 + 97] = v0_0.s1;
    s0[3*l0 + 193] = v0_0.s2;
    s0[3*l0 + 289] = v0_0.s3;
  }
  {
    const float4 v0_0 = t0 + (t0 * (float4)(2.0f));
    s0[3*l0 + 2] = v0_0.s0;
    s0[3*l0 + 98] = v0_0.s1;
    s0[3*l0 + 194] = v0_0.s2;
    s0[3*l0 + 290] = v0_0.s3;
  }
  // mapSeq over 3
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i0 = 0; i0 < 3; ++i0) {
    // mapLocal0 over 32
    // mapVec over 4
    *(global float4*)&out[384*w0 + 128*i0 + 4*l0] = *(local float4*)&s0[128*i0 + 4*l0];
  }
}

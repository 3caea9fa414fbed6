kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void k0(const global float* restrict A, global float* restrict out) {
  const int w0 = get_group_id(0);
  const int l0 = get_local_id(0);
  local float s0[576] __attribute__((aligned(16)));
  local float s1[64];
  local float s2[64];
  local float s3[64];
  // mapWorkgroup0 over 300
  // toLocal
  #pragma unroll
  for (int i0 = 0; i0 < 2; ++i0) {
    vstore4(*(const global float4*)&A[512*w0 + 256*i0 + 4*l0], 0, &s0[288*i0 + 9*(l0 / 2) + 4*(l0 % 2)]);
  }
  // toLocal
  // mapLocal0 over 64
  barrier(CLK_LOCAL_MEM_FENCE);
  // reduceSeq over 7
  float acc0 = s0[9*l0];
  for (int i1 = 0; i1 < 7; ++i1) {
    acc0 += s0[9*l0 + i1 + 1];
  }
  s1[l0] = acc0;
  // scanDoubling over 64
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 < 63) {
    s2[l0 + 1] = s1[l0] + s1[l0 + 1];
  }
  if (l0 == 0) {
    s2[l0] = s1[l0];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 < 62) {
    s3[l0 + 2] = s2[l0] + s2[l0 + 2];
  }
  if (l0 < 2) {
    s3[l0] = s2[l0];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 < 60) {
    s2[l0 + 4] = s3[l0] + s3[l0 + 4];
  }
  if (l0 < 4) {
    s2[l0] = s3[l0];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 < 56) {
    s3[l0 + 8] = s2[l0] + s2[l0 + 8];
  }
  if (l0 < 8) {
    s3[l0] = s2[l0];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 < 48) {
    s2[l0 + 16] = s3[l0] + s3[l0 + 16];
  }
  if (l0 < 16) {
    s2[l0] = s3[l0];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 < 32) {
    s3[l0 + 32] = 0.0f + (s2[l0] + s2[l0 + 32]);
  }
  if (l0 < 32) {
    s3[l0] = 0.0f + s2[l0];
  }
  // toLocal
  // mapLocal0 over 64
  barrier(CLK_LOCAL_MEM_FENCE);
  // scanSeq over 8
  float acc1 = l0 >= 1 ? s3[l0 - 1] : 0.0f;
  for (int i2 = 0; i2 < 8; ++i2) {
    const float t0 = acc1 + s0[9*l0 + i2];
    s0[9*l0 + i2] = t0 * 2.0f;
    acc1 = t0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  #pragma unroll
  for (int i3 = 0; i3 < 2; ++i3) {
    *(global float4*)&out[512*w0 + 256*i3 + 4*l0] = vload4(0, &s0[288*i3 + 9*(l0 / 2) + 4*(l0 % 2)]);
  }
}

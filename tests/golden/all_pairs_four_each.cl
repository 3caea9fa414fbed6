kernel __attribute__((reqd_work_group_size(4, 1, 1)))
void k0(const global float* restrict m, const global float* restrict x, const global float* restrict y, const global float* restrict z, global float* restrict out_0, global float* restrict out_1, global float* restrict out_2) {
  const long w0 = get_group_id(0);
  const long l0 = get_local_id(0);
  local float s0[16];
  local float s1[16];
  local float s2[16];
  local float s3[16];
  // mapWorkgroup0 over 2
  // reduceSeq over 2
  float acc0[4];
  float acc1[4];
  float acc2[4];
  #pragma unroll
  for (int i8 = 0; i8 < 4; ++i8) {
    acc0[i8] = 0.0f;
    acc1[i8] = 0.0f;
    acc2[i8] = 0.0f;
  }
  // toLocal
  float r0[4];
  float r1[4];
  float r2[4];
  float r3[4];
  #pragma unroll
  for (int i0 = 0; i0 < 4; ++i0) {
    r0[i0] = x[4*i0 + l0];
    r1[i0] = y[4*i0 + l0];
    r2[i0] = z[4*i0 + l0];
    r3[i0] = m[4*i0 + l0];
  }
  for (int i1 = 0; i1 < 2; ++i1) {
    #pragma unroll
    for (int i2 = 0; i2 < 4; ++i2) {
      s0[4*i2 + l0] = r0[i2];
      s1[4*i2 + l0] = r1[i2];
      s2[4*i2 + l0] = r2[i2];
      s3[4*i2 + l0] = r3[i2];
    }
    if (i1 == 0) {
      // prefetch
      #pragma unroll
      for (int i3 = 0; i3 < 4; ++i3) {
        r0[i3] = x[16*i1 + 4*i3 + l0 + 16];
        r1[i3] = y[16*i1 + 4*i3 + l0 + 16];
        r2[i3] = z[16*i1 + 4*i3 + l0 + 16];
        r3[i3] = m[16*i1 + 4*i3 + l0 + 16];
      }
    }
    // mapLocal0 over 4
    barrier(CLK_LOCAL_MEM_FENCE);
    // toPrivate
    float r4[4];
    float r5[4];
    float r6[4];
    float r7[4];
    #pragma unroll
    for (int i4 = 0; i4 < 4; ++i4) {
      r4[i4] = x[16*w0 + 4*l0 + i4];
      r5[i4] = y[16*w0 + 4*l0 + i4];
      r6[i4] = z[16*w0 + 4*l0 + i4];
      r7[i4] = m[16*w0 + 4*l0 + i4];
    }
    // reduceSeq over 16
    for (int i6 = 0; i6 < 16; ++i6) {
      // mapSeqUnroll over 4
      #pragma unroll
      for (int i7 = 0; i7 < 4; ++i7) {
        const float t0 = s0[i6] - r4[i7];
        const float t1 = s1[i6] - r5[i7];
        const float t2 = s2[i6] - r6[i7];
        const float t3 = rsqrt((((t0 * t0) + (t1 * t1)) + (t2 * t2)) + 0.01f);
        const float t4 = s3[i6] * (t3 * (t3 * t3));
        acc0[i7] += t4 * t0;
        acc1[i7] += t4 * t1;
        acc2[i7] += t4 * t2;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  #pragma unroll
  for (int i9 = 0; i9 < 4; ++i9) {
    out_0[16*w0 + 4*l0 + i9] = acc0[i9];
    out_1[16*w0 + 4*l0 + i9] = acc1[i9];
    out_2[16*w0 + 4*l0 + i9] = acc2[i9];
  }
}

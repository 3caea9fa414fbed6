typedef float4 float4_any __attribute__((aligned(4)));

kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void k0(const global float* restrict A, const global float* restrict B, global float* restrict out) {
  const long w0 = get_group_id(0);
  const long l0 = get_local_id(0);
  const long w1 = get_group_id(1);
  const long l1 = get_local_id(1);
  local float s0[160] __attribute__((aligned(16)));
  local float s1[160] __attribute__((aligned(16)));
  // mapWorkgroup1 over 2
  // mapWorkgroup0 over 2
  // reduceSeq over 3
  float acc0[16] __attribute__((aligned(16)));
  #pragma unroll
  for (int i5 = 0; i5 < 4; ++i5) {
    #pragma unroll
    for (int i6 = 0; i6 < 4; ++i6) {
      acc0[4*i5 + i6] = 0.0f;
    }
  }
  // toLocal
  // toLocal
  float4 r0 = *(const global float4_any*)&A[192*w1 + 48*l1 + 12*l0];
  float4 r1 = *(const global float4_any*)&B[32*l1 + 16*w0 + 4*l0];
  {
    const float4 v2_0 = r0;
    s0[4*l1 + l0] = v2_0.s0;
    s0[4*l1 + l0 + 20] = v2_0.s1;
    s0[4*l1 + l0 + 40] = v2_0.s2;
    s0[4*l1 + l0 + 60] = v2_0.s3;
  }
  *(local float4*)&s1[20*l1 + 4*l0] = r1;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i0 = 0; i0 < 3; ++i0) {
    if (i0 < 2) {
      // prefetch
      r0 = *(const global float4_any*)&A[192*w1 + 48*l1 + 12*l0 + 4*i0 + 4];
      r1 = *(const global float4_any*)&B[128*i0 + 32*l1 + 16*w0 + 4*l0 + 128];
    }
    // mapLocal1 over 4
    // mapLocal0 over 4
    // reduceSeq over 4
    #pragma unroll
    for (int i2 = 0; i2 < 4; ++i2) {
      // toPrivate
      float r2[4] __attribute__((aligned(16)));
      {
        const float4 v7_0 = *(local float4*)&s0[80*(i0 % 2) + 20*i2 + 4*l1];
        r2[0] = v7_0.s0;
        r2[1] = v7_0.s1;
        r2[2] = v7_0.s2;
        r2[3] = v7_0.s3;
      }
      // toPrivate
      float r3[4] __attribute__((aligned(16)));
      {
        const float4 v8_0 = *(local float4*)&s1[80*(i0 % 2) + 20*i2 + 4*l0];
        r3[0] = v8_0.s0;
        r3[1] = v8_0.s1;
        r3[2] = v8_0.s2;
        r3[3] = v8_0.s3;
      }
      // mapSeqUnroll over 4
      #pragma unroll
      for (int i3 = 0; i3 < 4; ++i3) {
        // mapSeqUnroll over 4
        #pragma unroll
        for (int i4 = 0; i4 < 4; ++i4) {
          acc0[4*i3 + i4] += r2[i3] * r3[i4];
        }
      }
    }
    if (i0 < 2) {
      {
        const float4 v9_0 = r0;
        s0[80*((i0 + 1) % 2) + 4*l1 + l0] = v9_0.s0;
        s0[80*((i0 + 1) % 2) + 4*l1 + l0 + 20] = v9_0.s1;
        s0[80*((i0 + 1) % 2) + 4*l1 + l0 + 40] = v9_0.s2;
        s0[80*((i0 + 1) % 2) + 4*l1 + l0 + 60] = v9_0.s3;
      }
      *(local float4*)&s1[80*((i0 + 1) % 2) + 20*l1 + 4*l0] = r1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  #pragma unroll
  for (int i7 = 0; i7 < 4; ++i7) {
    *(global float4_any*)&out[512*w1 + 128*l1 + 32*i7 + 16*w0 + 4*l0] = (float4)(acc0[4*i7], acc0[4*i7 + 1], acc0[4*i7 + 2], acc0[4*i7 + 3]);
  }
}

typedef float4 float4_any __attribute__((aligned(4)));

kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void k0(const global float* restrict A, const global float* restrict B, const global float* restrict C, global float* restrict out) {
  const long w0 = get_group_id(0);
  const long l0 = get_local_id(0);
  const long w1 = get_group_id(1);
  const long l1 = get_local_id(1);
  local float s0[64] __attribute__((aligned(16)));
  local float s1[64] __attribute__((aligned(16)));
  // mapWorkgroup1 over 2
  // mapWorkgroup0 over 2
  // reduceSeq over 2
  float acc0[16];
  #pragma unroll
  for (int i5 = 0; i5 < 4; ++i5) {
    #pragma unroll
    for (int i6 = 0; i6 < 4; ++i6) {
      acc0[4*i5 + i6] = 0.0f;
    }
  }
  for (int i0 = 0; i0 < 2; ++i0) {
    // toLocal
    {
      const float4 v0_0 = *(const global float4_any*)&A[128*w1 + 32*l1 + 8*l0 + 4*i0];
      s0[4*l1 + l0] = v0_0.s0;
      s0[4*l1 + l0 + 16] = v0_0.s1;
      s0[4*l1 + l0 + 32] = v0_0.s2;
      s0[4*l1 + l0 + 48] = v0_0.s3;
    }
    // toLocal
    *(local float4*)&s1[16*l1 + 4*l0] = *(const global float4_any*)&B[128*i0 + 32*l1 + 16*w0 + 4*l0];
    // mapLocal1 over 4
    barrier(CLK_LOCAL_MEM_FENCE);
    // mapLocal0 over 4
    // reduceSeq over 4
    #pragma unroll
    for (int i2 = 0; i2 < 4; ++i2) {
      // toPrivate
      float r0[4] __attribute__((aligned(16)));
      {
        const float4 v3_0 = *(local float4*)&s0[16*i2 + 4*l1];
        r0[0] = v3_0.s0;
        r0[1] = v3_0.s1;
        r0[2] = v3_0.s2;
        r0[3] = v3_0.s3;
      }
      // toPrivate
      float r1[4] __attribute__((aligned(16)));
      {
        const float4 v4_0 = *(local float4*)&s1[16*i2 + 4*l0];
        r1[0] = v4_0.s0;
        r1[1] = v4_0.s1;
        r1[2] = v4_0.s2;
        r1[3] = v4_0.s3;
      }
      // mapSeqUnroll over 4
      #pragma unroll
      for (int i3 = 0; i3 < 4; ++i3) {
        // mapSeqUnroll over 4
        #pragma unroll
        for (int i4 = 0; i4 < 4; ++i4) {
          acc0[4*i3 + i4] += r0[i3] * r1[i4];
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  // mapLocal1 over 4
  // mapLocal0 over 4
  // mapSeqUnroll over 4
  #pragma unroll
  for (int i7 = 0; i7 < 4; ++i7) {
    // mapSeqUnroll over 4
    #pragma unroll
    for (int i8 = 0; i8 < 4; ++i8) {
      out[512*w1 + 128*l1 + 32*i7 + 16*w0 + 4*l0 + i8] = (1.5f * acc0[4*i7 + i8]) + ((-0.5f) * C[512*w1 + 128*l1 + 32*i7 + 16*w0 + 4*l0 + i8]);
    }
  }
}

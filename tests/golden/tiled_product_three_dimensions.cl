typedef float4 float4_any __attribute__((aligned(4)));

kernel __attribute__((reqd_work_group_size(2, 4, 2)))
void k0(const global float* restrict A, const global float* restrict B, global float* restrict out) {
  const long l0 = get_local_id(0);
  const long w1 = get_group_id(1);
  const long l1 = get_local_id(1);
  const long l2 = get_local_id(2);
  local float s0[64] __attribute__((aligned(16)));
  local float s1[128] __attribute__((aligned(16)));
  // mapWorkgroup1 over 2
  // mapWorkgroup0 over 1
  // reduceSeq over 2
  float acc0[32] __attribute__((aligned(16)));
  #pragma unroll
  for (int i10 = 0; i10 < 4; ++i10) {
    #pragma unroll
    for (int i11 = 0; i11 < 2; ++i11) {
      #pragma unroll
      for (int i12 = 0; i12 < 4; ++i12) {
        acc0[8*i10 + 4*i11 + i12] = 0.0f;
      }
    }
  }
  // toLocal
  // toLocal
  float4 r1[2];
  float4 r0 = *(const global float4_any*)&A[128*w1 + 64*l2 + 16*l1 + 8*l0];
  #pragma unroll
  for (int i0 = 0; i0 < 2; ++i0) {
    r1[i0] = *(const global float4_any*)&B[64*i0 + 32*l2 + 8*l1 + 4*l0];
  }
  for (int i1 = 0; i1 < 2; ++i1) {
    {
      const float4 v2_0 = r0;
      s0[8*l2 + 2*l1 + l0] = v2_0.s0;
      s0[8*l2 + 2*l1 + l0 + 16] = v2_0.s1;
      s0[8*l2 + 2*l1 + l0 + 32] = v2_0.s2;
      s0[8*l2 + 2*l1 + l0 + 48] = v2_0.s3;
    }
    #pragma unroll
    for (int i2 = 0; i2 < 2; ++i2) {
      *(local float4*)&s1[64*i2 + 32*l2 + 8*l1 + 4*l0] = r1[i2];
    }
    if (i1 == 0) {
      // prefetch
      r0 = *(const global float4_any*)&A[128*w1 + 64*l2 + 16*l1 + 8*l0 + 4*i1 + 4];
      #pragma unroll
      for (int i3 = 0; i3 < 2; ++i3) {
        r1[i3] = *(const global float4_any*)&B[128*i1 + 64*i3 + 32*l2 + 8*l1 + 4*l0 + 128];
      }
    }
    // mapLocal1 over 4
    barrier(CLK_LOCAL_MEM_FENCE);
    // mapLocal2 over 2
    // mapLocal0 over 2
    // reduceSeq over 4
    #pragma unroll
    for (int i6 = 0; i6 < 4; ++i6) {
      // toPrivate
      float r2[4] __attribute__((aligned(16)));
      {
        const float4 v7_0 = *(local float4*)&s0[16*i6 + 4*l1];
        r2[0] = v7_0.s0;
        r2[1] = v7_0.s1;
        r2[2] = v7_0.s2;
        r2[3] = v7_0.s3;
      }
      // toPrivate
      float r3[8] __attribute__((aligned(16)));
      #pragma unroll
      for (int i7 = 0; i7 < 2; ++i7) {
        {
          const float4 v8_0 = *(local float4*)&s1[32*i6 + 16*i7 + 8*l2 + 4*l0];
          r3[4*i7] = v8_0.s0;
          r3[4*i7 + 1] = v8_0.s1;
          r3[4*i7 + 2] = v8_0.s2;
          r3[4*i7 + 3] = v8_0.s3;
        }
      }
      // mapSeqUnroll over 4
      #pragma unroll
      for (int i8 = 0; i8 < 4; ++i8) {
        // mapSeqUnroll over 8
        #pragma unroll
        for (int i9 = 0; i9 < 8; ++i9) {
          acc0[8*i8 + i9] += r2[i8] * r3[i9];
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  #pragma unroll
  for (int i13 = 0; i13 < 4; ++i13) {
    #pragma unroll
    for (int i14 = 0; i14 < 2; ++i14) {
      *(global float4_any*)&out[512*w1 + 128*l1 + 32*i13 + 16*i14 + 8*l2 + 4*l0] = (float4)(acc0[8*i13 + 4*i14], acc0[8*i13 + 4*i14 + 1], acc0[8*i13 + 4*i14 + 2], acc0[8*i13 + 4*i14 + 3]);
    }
  }
}

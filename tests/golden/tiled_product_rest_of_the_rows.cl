typedef float4 float4_any __attribute__((aligned(4)));

kernel __attribute__((reqd_work_group_size(4, 4, 1)))
void k0(const global float* restrict A, const global float* restrict B, global float* restrict out) {
  const long w0 = get_group_id(0);
  const long l0 = get_local_id(0);
  const long l1 = get_local_id(1);
  local float s0[64] __attribute__((aligned(16)));
  local float s1[64] __attribute__((aligned(16)));
  local float s2[48] __attribute__((aligned(16)));
  local float s3[48] __attribute__((aligned(16)));
  // mapWorkgroup1 over 1
  // mapWorkgroup0 over 2
  // reduceSeq over 2
  float acc0[16] __attribute__((aligned(16)));
  #pragma unroll
  for (int i6 = 0; i6 < 4; ++i6) {
    #pragma unroll
    for (int i7 = 0; i7 < 4; ++i7) {
      acc0[4*i6 + i7] = 0.0f;
    }
  }
  for (int i0 = 0; i0 < 2; ++i0) {
    // toLocal
    #pragma unroll
    for (int i1 = 0; i1 < 4; ++i1) {
      s0[16*l0 + 4*i1 + l1] = A[44*i1 + 11*l1 + 4*i0 + l0];
    }
    // toLocal
    *(local float4*)&s1[16*l1 + 4*l0] = *(const global float4_any*)&B[128*i0 + 32*l1 + 16*w0 + 4*l0];
    // mapLocal1 over 4
    barrier(CLK_LOCAL_MEM_FENCE);
    // mapLocal0 over 4
    // reduceSeq over 4
    #pragma unroll
    for (int i3 = 0; i3 < 4; ++i3) {
      // toPrivate
      float r0[4] __attribute__((aligned(16)));
      {
        const float4 v2_0 = *(local float4*)&s0[16*i3 + 4*l1];
        r0[0] = v2_0.s0;
        r0[1] = v2_0.s1;
        r0[2] = v2_0.s2;
        r0[3] = v2_0.s3;
      }
      // toPrivate
      float r1[4] __attribute__((aligned(16)));
      {
        const float4 v3_0 = *(local float4*)&s1[16*i3 + 4*l0];
        r1[0] = v3_0.s0;
        r1[1] = v3_0.s1;
        r1[2] = v3_0.s2;
        r1[3] = v3_0.s3;
      }
      // mapSeqUnroll over 4
      #pragma unroll
      for (int i4 = 0; i4 < 4; ++i4) {
        // mapSeqUnroll over 4
        #pragma unroll
        for (int i5 = 0; i5 < 4; ++i5) {
          acc0[4*i4 + i5] += r0[i4] * r1[i5];
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  // reduceSeq over 1
  // toLocal
  #pragma unroll
  for (int i8 = 0; i8 < 3; ++i8) {
    s2[16*((16*i8 + 4*l1 + l0) % 3) + ((16*i8 + 4*l1 + l0) / 3)] = A[11*((16*i8 + 4*l1 + l0) / 3) + ((16*i8 + 4*l1 + l0) % 3) + 8];
  }
  // toLocal
  #pragma unroll
  for (int i9 = 0; i9 < 3; ++i9) {
    s3[16*i9 + 4*l1 + l0] = B[32*i9 + 16*w0 + 4*l1 + l0 + 256];
  }
  // mapLocal1 over 4
  barrier(CLK_LOCAL_MEM_FENCE);
  // mapLocal0 over 4
  // reduceSeq over 3
  #pragma unroll
  for (int i11 = 0; i11 < 3; ++i11) {
    // toPrivate
    float r2[4] __attribute__((aligned(16)));
    {
      const float4 v5_0 = *(local float4*)&s2[16*i11 + 4*l1];
      r2[0] = v5_0.s0;
      r2[1] = v5_0.s1;
      r2[2] = v5_0.s2;
      r2[3] = v5_0.s3;
    }
    // toPrivate
    float r3[4] __attribute__((aligned(16)));
    {
      const float4 v6_0 = *(local float4*)&s3[16*i11 + 4*l0];
      r3[0] = v6_0.s0;
      r3[1] = v6_0.s1;
      r3[2] = v6_0.s2;
      r3[3] = v6_0.s3;
    }
    // mapSeqUnroll over 4
    #pragma unroll
    for (int i12 = 0; i12 < 4; ++i12) {
      // mapSeqUnroll over 4
      #pragma unroll
      for (int i13 = 0; i13 < 4; ++i13) {
        acc0[4*i12 + i13] += r2[i12] * r3[i13];
      }
    }
  }
  #pragma unroll
  for (int i16 = 0; i16 < 4; ++i16) {
    *(global float4_any*)&out[128*l1 + 32*i16 + 16*w0 + 4*l0] = (float4)(acc0[4*i16], acc0[4*i16 + 1], acc0[4*i16 + 2], acc0[4*i16 + 3]);
  }
}

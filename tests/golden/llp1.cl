kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void k0(const global float* restrict x, global float* restrict tmp0) {
  const long w0 = get_group_id(0);
  const long l0 = get_local_id(0);
  local float s0[128];
  local float s1[64];
  local float s2[32];
  local float s3[16];
  local float s4[8];
  local float s5[4];
  local float s6[2];
  local float s7[1];
  // mapWorkgroup0 over 4
  // toLocal
  #pragma unroll
  for (int i0 = 0; i0 < 2; ++i0) {
    s0[64*i0 + l0] = x[128*w0 + 64*i0 + l0];
  }
  // mapLocal0 over 64
  barrier(CLK_LOCAL_MEM_FENCE);
  // reduceSeq over 2
  float acc0 = 0.0f;
  for (int i1 = 0; i1 < 2; ++i1) {
    acc0 += s0[2*l0 + i1];
  }
  s1[l0] = acc0;
  // mapLocal0 over 32
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 < 32) {
    // reduceSeq over 2
    float acc1 = 0.0f;
    for (int i2 = 0; i2 < 2; ++i2) {
      acc1 += s1[2*l0 + i2];
    }
    s2[l0] = acc1;
  }
  // mapLocal0 over 16
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 < 16) {
    // reduceSeq over 2
    float acc2 = 0.0f;
    for (int i3 = 0; i3 < 2; ++i3) {
      acc2 += s2[2*l0 + i3];
    }
    s3[l0] = acc2;
  }
  // mapLocal0 over 8
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 < 8) {
    // reduceSeq over 2
    float acc3 = 0.0f;
    for (int i4 = 0; i4 < 2; ++i4) {
      acc3 += s3[2*l0 + i4];
    }
    s4[l0] = acc3;
  }
  // mapLocal0 over 4
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 < 4) {
    // reduceSeq over 2
    float acc4 = 0.0f;
    for (int i5 = 0; i5 < 2; ++i5) {
      acc4 += s4[2*l0 + i5];
    }
    s5[l0] = acc4;
  }
  // mapLocal0 over 2
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 < 2) {
    // reduceSeq over 2
    float acc5 = 0.0f;
    for (int i6 = 0; i6 < 2; ++i6) {
      acc5 += s5[2*l0 + i6];
    }
    s6[l0] = acc5;
  }
  // mapLocal0 over 1
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 == 0) {
    // reduceSeq over 2
    float acc6 = 0.0f;
    for (int i7 = 0; i7 < 2; ++i7) {
      acc6 += s6[2*l0 + i7];
    }
    s7[l0] = acc6;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l0 == 0) {
    // reduceSeq over 1
    float acc7 = 0.0f;
    acc7 += s7[0];
    tmp0[w0] = acc7;
  }
}

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k1(const global float* restrict tmp0, global float* restrict out) {
  // reduceSeq over 4
  float acc0 = 0.0f;
  for (int i0 = 0; i0 < 4; ++i0) {
    acc0 += tmp0[i0];
  }
  out[0] = acc0;
}

kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void k0(const global float* restrict x, global float* restrict tmp0) {
  const long w0 = get_group_id(0);
  const long warp = get_local_id(0) / 32;
  const long lane = get_local_id(0) % 32;
  local float s0[128];
  local float s1[64];
  local float s3[128];
  local float s4[64];
  local float s5[32];
  local float s6[16];
  local float s7[8];
  local float s2[1];
  // mapWorkgroup0 over 2
  // toLocal
  // mapLocal0 over 128
  // reduceSeq over 4
  float acc0 = 0.0f;
  for (int i0 = 0; i0 < 4; ++i0) {
    acc0 += x[512*w0 + 128*i0 + 32*warp + lane];
  }
  s0[32*warp + lane] = acc0;
  // mapLocal0 over 64
  barrier(CLK_LOCAL_MEM_FENCE);
  if (32*warp + lane < 64) {
    // reduceSeq over 2
    float acc1 = 0.0f;
    for (int i1 = 0; i1 < 2; ++i1) {
      acc1 += s0[64*i1 + 32*warp + lane];
    }
    s1[32*warp + lane] = acc1;
  }
  // mapWarp over 1
  // mapLane over 32
  barrier(CLK_LOCAL_MEM_FENCE);
  if (warp == 0) {
    // reduceSeq over 2
    float acc2 = 0.0f;
    for (int i2 = 0; i2 < 2; ++i2) {
      acc2 += s1[32*i2 + lane];
    }
    s3[32*warp + lane] = acc2;
  }
  // mapLane over 16
  barrier(CLK_LOCAL_MEM_FENCE);
  if (warp == 0 && lane < 16) {
    // reduceSeq over 2
    float acc3 = 0.0f;
    for (int i3 = 0; i3 < 2; ++i3) {
      acc3 += s3[32*warp + 16*i3 + lane];
    }
    s4[16*warp + lane] = acc3;
  }
  // mapLane over 8
  barrier(CLK_LOCAL_MEM_FENCE);
  if (warp == 0 && lane < 8) {
    // reduceSeq over 2
    float acc4 = 0.0f;
    for (int i4 = 0; i4 < 2; ++i4) {
      acc4 += s4[16*warp + 8*i4 + lane];
    }
    s5[8*warp + lane] = acc4;
  }
  // mapLane over 4
  barrier(CLK_LOCAL_MEM_FENCE);
  if (warp == 0 && lane < 4) {
    // reduceSeq over 2
    float acc5 = 0.0f;
    for (int i5 = 0; i5 < 2; ++i5) {
      acc5 += s5[8*warp + 4*i5 + lane];
    }
    s6[4*warp + lane] = acc5;
  }
  // mapLane over 2
  barrier(CLK_LOCAL_MEM_FENCE);
  if (warp == 0 && lane < 2) {
    // reduceSeq over 2
    float acc6 = 0.0f;
    for (int i6 = 0; i6 < 2; ++i6) {
      acc6 += s6[4*warp + 2*i6 + lane];
    }
    s7[2*warp + lane] = acc6;
  }
  // mapLane over 1
  barrier(CLK_LOCAL_MEM_FENCE);
  if (warp == 0 && lane == 0) {
    // reduceSeq over 2
    float acc7 = 0.0f;
    for (int i7 = 0; i7 < 2; ++i7) {
      acc7 += s7[2*warp + i7 + lane];
    }
    s2[lane] = acc7;
  }
  // mapLocal0 over 1
  barrier(CLK_LOCAL_MEM_FENCE);
  if (32*warp + lane == 0) {
    // mapSeq over 1
    tmp0[32*warp + lane + w0] = s2[32*warp + lane];
  }
}

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k1(const global float* restrict tmp0, global float* restrict out) {
  // reduceSeq over 2
  float acc0 = 0.0f;
  for (int i0 = 0; i0 < 2; ++i0) {
    acc0 += tmp0[i0];
  }
  out[0] = acc0;
}

float maximum_f32(float a, float b) { return a > b || a != a ? a : b; }

kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void k0(const global float* restrict A, global float* restrict out) {
  const long w0 = get_group_id(0);
  const long l0 = get_local_id(0);
  local float s0[40];
  local float s1[20];
  local float s2[40];
  local float s3[20];
  // mapWorkgroup0 over 6
  for (int i0 = 0; i0 < 2; ++i0) {
    // toLocal
    for (int i1 = l0; i1 < 40; i1 += 16) {
      s0[i1] = A[120*i0 + 40*w0 + i1];
    }
    // tree over 40
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i2 = l0; i2 < 20; i2 += 16) {
      s1[i2] = maximum_f32(s0[i2], s0[i2 + 20]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l0 < 10) {
      s1[l0] = maximum_f32(s1[l0], s1[l0 + 10]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l0 < 5) {
      s1[l0] = maximum_f32(s1[l0], s1[l0 + 5]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l0 < 2) {
      s1[l0] = maximum_f32(s1[l0], s1[l0 + 3]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l0 == 0) {
      s1[l0] = maximum_f32(s1[l0], s1[l0 + 2]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l0 == 0) {
      s1[l0] = maximum_f32(s1[l0], s1[l0 + 1]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float acc0 = maximum_f32(-INFINITY, s1[0]);
    // toLocal
    // mapLocal0 over 40
    for (int i3 = l0; i3 < 40; i3 += 16) {
      s2[i3] = exp(s0[i3] - acc0);
    }
    // tree over 40
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i4 = l0; i4 < 20; i4 += 16) {
      s3[i4] = s2[i4] + s2[i4 + 20];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l0 < 10) {
      s3[l0] += s3[l0 + 10];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l0 < 5) {
      s3[l0] += s3[l0 + 5];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l0 < 2) {
      s3[l0] += s3[l0 + 3];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l0 == 0) {
      s3[l0] += s3[l0 + 2];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l0 == 0) {
      s3[l0] += s3[l0 + 1];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float acc1 = 0.0f + s3[0];
    // mapLocal0 over 40
    for (int i5 = l0; i5 < 40; i5 += 16) {
      out[120*i0 + 40*w0 + i5] = s2[i5] / acc1;
    }
  }
}

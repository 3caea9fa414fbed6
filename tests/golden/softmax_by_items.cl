float maximum_f32(float a, float b) { return a > b || a != a ? a : b; }

kernel __attribute__((reqd_work_group_size(6, 1, 1)))
void k0(const global float* restrict A, global float* restrict out) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 6
  // reduceSeq over 40
  float acc0 = -INFINITY;
  for (int i0 = 0; i0 < 40; ++i0) {
    acc0 = maximum_f32(acc0, A[40*g0 + i0]);
  }
  float r0[40];
  // mapSeq over 40
  for (int i1 = 0; i1 < 40; ++i1) {
    r0[i1] = exp(A[40*g0 + i1] - acc0);
  }
  // reduceSeq over 40
  float acc1 = 0.0f;
  for (int i2 = 0; i2 < 40; ++i2) {
    acc1 += r0[i2];
  }
  // mapSeq over 40
  for (int i3 = 0; i3 < 40; ++i3) {
    out[40*g0 + i3] = r0[i3] / acc1;
  }
}

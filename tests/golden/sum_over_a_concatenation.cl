kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k0(const global float* restrict x, const global float* restrict y, const global float* restrict z, global float* restrict out) {
  // reduceSeq over 300
  float acc0 = 0.0f;
  for (int i0 = 0; i0 < 100; ++i0) {
    acc0 += x[i0];
  }
  for (int i1 = 0; i1 < 100; ++i1) {
    acc0 += y[i1];
  }
  for (int i2 = 0; i2 < 100; ++i2) {
    acc0 += 2.0f * z[i2];
  }
  out[0] = acc0;
}

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k0(const global float* restrict x, global float* restrict out_0, global int* restrict out_1) {
  // reduceSeq over 100
  float acc0 = -INFINITY;
  int acc1 = 0;
  for (int i0 = 0; i0 < 100; ++i0) {
    const float t0 = x[i0];
    const bool t1 = acc0 >= t0;
    acc0 = t1 ? acc0 : t0;
    acc1 = t1 ? acc1 : i0;
  }
  out_0[0] = acc0;
  out_1[0] = acc1;
}

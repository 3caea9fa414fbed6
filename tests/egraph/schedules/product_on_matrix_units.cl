#pragma OPENCL EXTENSION cl_khr_fp64 : enable
void multiply_f64_16x8x16(double* c0, double* c1, double* c2, double* c3, double a0, double a1, double a2, double a3, double a4, double a5, double a6, double a7, double b0, double b1, double b2, double b3) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
    : "+d"(*c0), "+d"(*c1), "+d"(*c2), "+d"(*c3) : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(a4), "d"(a5), "d"(a6), "d"(a7), "d"(b0), "d"(b1), "d"(b2), "d"(b3));
}

kernel __attribute__((reqd_work_group_size(4, 32, 1)))
void k0(const global double* restrict A, const global double* restrict B, global double* restrict out) {
  const int w0 = (8 * (int)get_group_id(1) + (int)get_group_id(0)) % 16 / 2;
  const int l0 = get_local_id(0);
  const int w1 = (8 * (int)get_group_id(1) + (int)get_group_id(0)) / 16 * 2 + (8 * (int)get_group_id(1) + (int)get_group_id(0)) % 2;
  const int l1 = get_local_id(1);
  local double s0[320] __attribute__((aligned(16)));
  local double s1[1280] __attribute__((aligned(16)));
  // mapWorkgroup1 over 2
  // mapWorkgroup0 over 8
  // reduceSeq over 4
  double acc0[8] __attribute__((aligned(16)));
  #pragma unroll
  for (int i12 = 0; i12 < 2; ++i12) {
    #pragma unroll
    for (int i13 = 0; i13 < 2; ++i13) {
      #pragma unroll
      for (int i14 = 0; i14 < 2; ++i14) {
        acc0[4*i12 + 2*i13 + i14] = 0.0;
      }
    }
  }
  // toLocal
  // toLocal
  double2 r1[4];
  double2 r0 = *(const global double2*)&B[128*(l1 / 2) + 16*w0 + 8*(l1 % 2) + 2*l0];
  #pragma unroll
  for (int i0 = 0; i0 < 4; ++i0) {
    r1[i0] = *(const global double2*)&A[4096*w1 + 1024*i0 + 64*(l1 / 2) + 8*(l1 % 2) + 2*l0];
  }
  for (int i1 = 0; i1 < 4; ++i1) {
    *(local double2*)&s0[20*(l1 / 2) + 8*(l1 % 2) + 2*l0] = r0;
    #pragma unroll
    for (int i2 = 0; i2 < 4; ++i2) {
      *(local double2*)&s1[320*i2 + 20*(l1 / 2) + 8*(l1 % 2) + 2*l0] = r1[i2];
    }
    if (i1 < 3) {
      // prefetch
      r0 = *(const global double2*)&B[2048*i1 + 128*(l1 / 2) + 16*w0 + 8*(l1 % 2) + 2*l0 + 2048];
      #pragma unroll
      for (int i3 = 0; i3 < 4; ++i3) {
        r1[i3] = *(const global double2*)&A[4096*w1 + 1024*i3 + 64*(l1 / 2) + 16*i1 + 8*(l1 % 2) + 2*l0 + 16];
      }
    }
    // mapLocal1 over 32
    barrier(CLK_LOCAL_MEM_FENCE);
    // mapLocal0 over 4
    // reduceSeq over 16
    // matrix unit: 16 x 8 x 16
    double a0[8];
    double b0[4];
    a0[0] = s1[20*l1 + l0];
    a0[1] = s1[20*l1 + l0 + 640];
    a0[2] = s1[20*l1 + l0 + 4];
    a0[3] = s1[20*l1 + l0 + 644];
    a0[4] = s1[20*l1 + l0 + 8];
    a0[5] = s1[20*l1 + l0 + 648];
    a0[6] = s1[20*l1 + l0 + 12];
    a0[7] = s1[20*l1 + l0 + 652];
    b0[0] = s0[20*l0 + (l1 % 8)];
    b0[1] = s0[20*l0 + (l1 % 8) + 80];
    b0[2] = s0[20*l0 + (l1 % 8) + 160];
    b0[3] = s0[20*l0 + (l1 % 8) + 240];
    multiply_f64_16x8x16(&acc0[0], &acc0[1], &acc0[4], &acc0[5], a0[0], a0[1], a0[2], a0[3], a0[4], a0[5], a0[6], a0[7], b0[0], b0[1], b0[2], b0[3]);
    b0[0] = s0[20*l0 + (l1 % 8) + 8];
    b0[1] = s0[20*l0 + (l1 % 8) + 88];
    b0[2] = s0[20*l0 + (l1 % 8) + 168];
    b0[3] = s0[20*l0 + (l1 % 8) + 248];
    multiply_f64_16x8x16(&acc0[2], &acc0[3], &acc0[6], &acc0[7], a0[0], a0[1], a0[2], a0[3], a0[4], a0[5], a0[6], a0[7], b0[0], b0[1], b0[2], b0[3]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  #pragma unroll
  for (int i15 = 0; i15 < 2; ++i15) {
    #pragma unroll
    for (int i16 = 0; i16 < 2; ++i16) {
      *(global double2*)&out[8192*w1 + 4096*i15 + 128*l1 + 16*w0 + 8*i16 + 2*l0] = (double2)(acc0[4*i15 + 2*i16], acc0[4*i15 + 2*i16 + 1]);
    }
  }
}

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
void multiply_f64_16x8x16(double* c0, double* c1, double* c2, double* c3, double a0, double a1, double a2, double a3, double a4, double a5, double a6, double a7, double b0, double b1, double b2, double b3) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
    : "+d"(*c0), "+d"(*c1), "+d"(*c2), "+d"(*c3) : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(a4), "d"(a5), "d"(a6), "d"(a7), "d"(b0), "d"(b1), "d"(b2), "d"(b3));
}

kernel __attribute__((reqd_work_group_size(4, 16, 2)))
void k0(const global double* restrict A, const global double* restrict B, global double* restrict out) {
  const int w0 = (4 * (int)get_group_id(1) + (int)get_group_id(0)) % 8 / 2;
  const int l0 = get_local_id(0);
  const int w1 = (4 * (int)get_group_id(1) + (int)get_group_id(0)) / 8 * 2 + (4 * (int)get_group_id(1) + (int)get_group_id(0)) % 2;
  const int l1 = get_local_id(1);
  const int l2 = get_local_id(2);
  local double s0[512] __attribute__((aligned(128)));
  local double s1[1024] __attribute__((aligned(128)));
  // mapWorkgroup1 over 2
  // mapWorkgroup0 over 4
  // reduceSeq over 4
  double acc0[16] __attribute__((aligned(16)));
  #pragma unroll
  for (int i15 = 0; i15 < 4; ++i15) {
    #pragma unroll
    for (int i16 = 0; i16 < 2; ++i16) {
      #pragma unroll
      for (int i17 = 0; i17 < 2; ++i17) {
        acc0[4*i15 + 2*i16 + i17] = 0.0;
      }
    }
  }
  // toLocal
  double2 r0[2];
  // toLocal
  double2 r1[4];
  #pragma unroll
  for (int i0 = 0; i0 < 2; ++i0) {
    r0[i0] = *(const global double2*)&B[1024*i0 + 512*l2 + 128*(l1 / 4) + 32*w0 + 16*(((l1 / 2)) % 2) + 8*(l1 % 2) + 2*l0];
  }
  #pragma unroll
  for (int i1 = 0; i1 < 4; ++i1) {
    r1[i1] = *(const global double2*)&A[4096*w1 + 1024*i1 + 512*l2 + 64*(l1 / 2) + 8*(l1 % 2) + 2*l0];
  }
  for (int i2 = 0; i2 < 4; ++i2) {
    #pragma unroll
    for (int i3 = 0; i3 < 2; ++i3) {
      *(local double2*)&s0[256*i3 + 128*l2 + 16*(l1 / 2) + 2*((4*(l1 % 4) + 2*(l1 / 4) + l0) % 8)] = r0[i3];
    }
    #pragma unroll
    for (int i4 = 0; i4 < 4; ++i4) {
      *(local double2*)&s1[256*i4 + 128*l2 + 16*(l1 / 2) + 2*((4*(l1 % 2) + 2*(l1 / 2) + l0) % 8)] = r1[i4];
    }
    if (i2 < 3) {
      // prefetch
      #pragma unroll
      for (int i5 = 0; i5 < 2; ++i5) {
        r0[i5] = *(const global double2*)&B[2048*i2 + 1024*i5 + 512*l2 + 128*(l1 / 4) + 32*w0 + 16*(((l1 / 2)) % 2) + 8*(l1 % 2) + 2*l0 + 2048];
      }
      #pragma unroll
      for (int i6 = 0; i6 < 4; ++i6) {
        r1[i6] = *(const global double2*)&A[4096*w1 + 1024*i6 + 512*l2 + 64*(l1 / 2) + 16*i2 + 8*(l1 % 2) + 2*l0 + 16];
      }
    }
    // mapLocal1 over 16
    barrier(CLK_LOCAL_MEM_FENCE);
    // mapLocal2 over 2
    // mapLocal0 over 4
    // reduceSeq over 16
    // matrix unit: 16 x 8 x 16
    double a0[16];
    double b0[4];
    a0[0] = s1[16*l1 + 4*(l1 % 4) + l0];
    a0[1] = s1[16*l1 + 4*(l1 % 4) + l0 + 256];
    a0[2] = s1[16*l1 + 4*((l1 + 1) % 4) + l0];
    a0[3] = s1[16*l1 + 4*((l1 + 1) % 4) + l0 + 256];
    a0[4] = s1[16*l1 + 4*((l1 + 2) % 4) + l0];
    a0[5] = s1[16*l1 + 4*((l1 + 2) % 4) + l0 + 256];
    a0[6] = s1[16*l1 + 4*((l1 + 3) % 4) + l0];
    a0[7] = s1[16*l1 + 4*((l1 + 3) % 4) + l0 + 256];
    a0[8] = s1[16*l1 + 4*(l1 % 4) + l0 + 512];
    a0[9] = s1[16*l1 + 4*(l1 % 4) + l0 + 768];
    a0[10] = s1[16*l1 + 4*((l1 + 1) % 4) + l0 + 512];
    a0[11] = s1[16*l1 + 4*((l1 + 1) % 4) + l0 + 768];
    a0[12] = s1[16*l1 + 4*((l1 + 2) % 4) + l0 + 512];
    a0[13] = s1[16*l1 + 4*((l1 + 2) % 4) + l0 + 768];
    a0[14] = s1[16*l1 + 4*((l1 + 3) % 4) + l0 + 512];
    a0[15] = s1[16*l1 + 4*((l1 + 3) % 4) + l0 + 768];
    b0[0] = s0[32*l0 + 16*l2 + 2*((2*l0 + (((l1 / 2)) % 4)) % 8) + (l1 % 2)];
    b0[1] = s0[32*l0 + 16*l2 + 2*((2*l0 + (((l1 / 2)) % 4)) % 8) + (l1 % 2) + 128];
    b0[2] = s0[32*l0 + 16*l2 + 2*((2*l0 + (((l1 / 2)) % 4)) % 8) + (l1 % 2) + 256];
    b0[3] = s0[32*l0 + 16*l2 + 2*((2*l0 + (((l1 / 2)) % 4)) % 8) + (l1 % 2) + 384];
    multiply_f64_16x8x16(&acc0[0], &acc0[1], &acc0[4], &acc0[5], a0[0], a0[1], a0[2], a0[3], a0[4], a0[5], a0[6], a0[7], b0[0], b0[1], b0[2], b0[3]);
    multiply_f64_16x8x16(&acc0[8], &acc0[9], &acc0[12], &acc0[13], a0[8], a0[9], a0[10], a0[11], a0[12], a0[13], a0[14], a0[15], b0[0], b0[1], b0[2], b0[3]);
    b0[0] = s0[32*l0 + 16*l2 + 2*((2*l0 + (((l1 / 2)) % 4) + 4) % 8) + (l1 % 2)];
    b0[1] = s0[32*l0 + 16*l2 + 2*((2*l0 + (((l1 / 2)) % 4) + 4) % 8) + (l1 % 2) + 128];
    b0[2] = s0[32*l0 + 16*l2 + 2*((2*l0 + (((l1 / 2)) % 4) + 4) % 8) + (l1 % 2) + 256];
    b0[3] = s0[32*l0 + 16*l2 + 2*((2*l0 + (((l1 / 2)) % 4) + 4) % 8) + (l1 % 2) + 384];
    multiply_f64_16x8x16(&acc0[2], &acc0[3], &acc0[6], &acc0[7], a0[0], a0[1], a0[2], a0[3], a0[4], a0[5], a0[6], a0[7], b0[0], b0[1], b0[2], b0[3]);
    multiply_f64_16x8x16(&acc0[10], &acc0[11], &acc0[14], &acc0[15], a0[8], a0[9], a0[10], a0[11], a0[12], a0[13], a0[14], a0[15], b0[0], b0[1], b0[2], b0[3]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  #pragma unroll
  for (int i18 = 0; i18 < 4; ++i18) {
    #pragma unroll
    for (int i19 = 0; i19 < 2; ++i19) {
      *(global double2*)&out[8192*w1 + 2048*i18 + 128*l1 + 32*w0 + 16*l2 + 8*i19 + 2*l0] = (double2)(acc0[4*i18 + 2*i19], acc0[4*i18 + 2*i19 + 1]);
    }
  }
}

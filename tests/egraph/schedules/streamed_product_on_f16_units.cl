void copy_16(uint to, const global void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
    : : "r"(to), "l"((ulong)from) : "memory");
}
void close_copies() {
  asm volatile("cp.async.commit_group;" : : : "memory");
}
void await_copies_1() {
  asm volatile("cp.async.wait_group 1;" : : : "memory");
}
void load_matrices_4(uint* r0, uint* r1, uint* r2, uint* r3, uint row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
    : "=r"(*r0), "=r"(*r1), "=r"(*r2), "=r"(*r3) : "r"(row) : "memory");
}
void load_matrices_4_transposed(uint* r0, uint* r1, uint* r2, uint* r3, uint row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
    : "=r"(*r0), "=r"(*r1), "=r"(*r2), "=r"(*r3) : "r"(row) : "memory");
}
void multiply_f16_16x8x16(float* c0, float* c1, float* c2, float* c3, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
    : "+f"(*c0), "+f"(*c1), "+f"(*c2), "+f"(*c3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
ushort cast_f32_f16(float a) {
  ushort r;
  vstore_half_rte(a, 0, (half*)&r);
  return r;
}
ushort2 cast_f32_f16x2(float2 a) { return (ushort2)(cast_f32_f16(a.s0), cast_f32_f16(a.s1)); }
ushort2 round_f16x2(float2 a) {
#if defined(__NV_CL_C_VERSION) || defined(cl_nv_pragma_unroll) || defined(cl_nv_compiler_options)
  uint r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(a.s1), "f"(a.s0));
  return as_ushort2(r);
#else
  return cast_f32_f16x2(a);
#endif
}

kernel __attribute__((reqd_work_group_size(4, 16, 2)))
void k0(const global ushort* restrict A, const global ushort* restrict B, global ushort* restrict out) {
  const int w0 = (2 * (int)get_group_id(1) + (int)get_group_id(0)) % 4 / 2;
  const int l0 = get_local_id(0);
  const int w1 = (2 * (int)get_group_id(1) + (int)get_group_id(0)) / 4 * 2 + (2 * (int)get_group_id(1) + (int)get_group_id(0)) % 2;
  const int l1 = get_local_id(1);
  const int l2 = get_local_id(2);
  local ushort s0[6144] __attribute__((aligned(128)));
  local ushort s1[6144] __attribute__((aligned(128)));
  // mapWorkgroup1 over 2
  // mapWorkgroup0 over 2
  // reduceSeq over 8
  float acc0[32] __attribute__((aligned(8)));
  #pragma unroll
  for (int i14 = 0; i14 < 4; ++i14) {
    #pragma unroll
    for (int i15 = 0; i15 < 4; ++i15) {
      #pragma unroll
      for (int i16 = 0; i16 < 2; ++i16) {
        acc0[8*i14 + 2*i15 + i16] = 0.0f;
      }
    }
  }
  // toLocal, 3 buffers
  // toLocal, 3 buffers
  #pragma unroll
  for (int i0 = 0; i0 < 2; ++i0) {
    #pragma unroll
    for (int i1 = 0; i1 < 2; ++i1) {
      copy_16((uint)(ulong)s0 + 4096*i0 + 2048*i1 + 1024*l2 + 128*(l1 / 2) + 16*((4*(l1 % 2) + (l1 / 2) + l0) % 8), &B[4096*i0 + 2048*i1 + 1024*l2 + 128*(l1 / 2) + 64*w0 + 32*(l1 % 2) + 8*l0]);
    }
    #pragma unroll
    for (int i2 = 0; i2 < 2; ++i2) {
      copy_16((uint)(ulong)s1 + 4096*i0 + 2048*i2 + 1024*l2 + 64*l1 + 16*(((l1 / 2) + l0) % 4), &A[16384*w1 + 8192*i2 + 4096*l2 + 256*l1 + 32*i0 + 8*l0]);
    }
    close_copies();
  }
  uint a0[8];
  uint a1[8];
  uint b0[8];
  uint b1[8];
  await_copies_1();
  barrier(CLK_LOCAL_MEM_FENCE);
  #pragma unroll
  for (int i4 = 0; i4 < 2; ++i4) {
    copy_16((uint)(ulong)s0 + 2048*i4 + 1024*l2 + 128*(l1 / 2) + 16*((4*(l1 % 2) + (l1 / 2) + l0) % 8) + 8192, &B[2048*i4 + 1024*l2 + 128*(l1 / 2) + 64*w0 + 32*(l1 % 2) + 8*l0 + 8192]);
  }
  #pragma unroll
  for (int i5 = 0; i5 < 2; ++i5) {
    copy_16((uint)(ulong)s1 + 2048*i5 + 1024*l2 + 64*l1 + 16*(((l1 / 2) + l0) % 4) + 8192, &A[16384*w1 + 8192*i5 + 4096*l2 + 256*l1 + 8*l0 + 64]);
  }
  close_copies();
  // mapLocal1 over 16
  barrier(CLK_LOCAL_MEM_FENCE);
  load_matrices_4(&a0[0], &a0[1], &a0[2], &a0[3], (uint)(ulong)s1 + 1024*(((l1 / 2)) % 2) + 512*(l1 / 8) + 256*(l1 % 2) + 64*l0 + 16*((2*(l1 % 2) + (((l1 / 4)) % 2) + (l0 / 2)) % 4));
  load_matrices_4(&a0[4], &a0[5], &a0[6], &a0[7], (uint)(ulong)s1 + 1024*(((l1 / 2)) % 2) + 512*(l1 / 8) + 256*(l1 % 2) + 64*l0 + 16*((2*(l1 % 2) + (((l1 / 4)) % 2) + (l0 / 2)) % 4) + 2048);
  load_matrices_4_transposed(&b0[0], &b0[1], &b0[2], &b0[3], (uint)(ulong)s0 + 1024*(((l1 / 2)) % 2) + 512*(l1 % 2) + 16*((((l1 / 4)) % 2) == 0 ? 9*l0 + 4*(((l1 % 2) + l2) % 2) : 8*l0 + ((4*((l1 % 2) + l2) + l0 + 1) % 8)));
  load_matrices_4_transposed(&b0[4], &b0[5], &b0[6], &b0[7], (uint)(ulong)s0 + 1024*(((l1 / 2)) % 2) + 512*(l1 % 2) + 128*l0 + 16*((((l1 / 4)) % 2) == 0 ? ((4*((l1 % 2) + l2) + l0 + 2) % 8) : ((4*((l1 % 2) + l2) + l0 + 3) % 8)));
  int i3_0 = 0;
  int i3_1 = 1;
  for (int i3 = 0; i3 < 8; ++i3) {
    // mapLocal2 over 2
    // mapLocal0 over 4
    // reduceSeq over 32
    load_matrices_4(&a1[0], &a1[1], &a1[2], &a1[3], (uint)(ulong)s1 + 4096*i3_0 + 1024*(((l1 / 2)) % 2) + 512*(l1 / 8) + 256*(l1 % 2) + 64*l0 + 16*((2*(l1 % 2) + (((l1 / 4)) % 2) + (l0 / 2) + 2) % 4));
    load_matrices_4(&a1[4], &a1[5], &a1[6], &a1[7], (uint)(ulong)s1 + 4096*i3_0 + 1024*(((l1 / 2)) % 2) + 512*(l1 / 8) + 256*(l1 % 2) + 64*l0 + 16*((2*(l1 % 2) + (((l1 / 4)) % 2) + (l0 / 2) + 2) % 4) + 2048);
    load_matrices_4_transposed(&b1[0], &b1[1], &b1[2], &b1[3], (uint)(ulong)s0 + 4096*i3_0 + 1024*(((l1 / 2)) % 2) + 512*(l1 % 2) + 16*((((l1 / 4)) % 2) == 0 ? 9*l0 + 4*(((l1 % 2) + l2) % 2) + 128 : 8*l0 + ((4*((l1 % 2) + l2) + l0 + 1) % 8) + 128));
    load_matrices_4_transposed(&b1[4], &b1[5], &b1[6], &b1[7], (uint)(ulong)s0 + 4096*i3_0 + 1024*(((l1 / 2)) % 2) + 512*(l1 % 2) + 128*l0 + 16*((((l1 / 4)) % 2) == 0 ? ((4*((l1 % 2) + l2) + l0 + 2) % 8) + 128 : ((4*((l1 % 2) + l2) + l0 + 3) % 8) + 128));
    // matrix unit: 16 x 8 x 16
    multiply_f16_16x8x16(&acc0[0], &acc0[1], &acc0[8], &acc0[9], a0[0], a0[1], a0[2], a0[3], b0[0], b0[1]);
    multiply_f16_16x8x16(&acc0[2], &acc0[3], &acc0[10], &acc0[11], a0[0], a0[1], a0[2], a0[3], b0[2], b0[3]);
    multiply_f16_16x8x16(&acc0[4], &acc0[5], &acc0[12], &acc0[13], a0[0], a0[1], a0[2], a0[3], b0[4], b0[5]);
    multiply_f16_16x8x16(&acc0[6], &acc0[7], &acc0[14], &acc0[15], a0[0], a0[1], a0[2], a0[3], b0[6], b0[7]);
    multiply_f16_16x8x16(&acc0[16], &acc0[17], &acc0[24], &acc0[25], a0[4], a0[5], a0[6], a0[7], b0[0], b0[1]);
    multiply_f16_16x8x16(&acc0[18], &acc0[19], &acc0[26], &acc0[27], a0[4], a0[5], a0[6], a0[7], b0[2], b0[3]);
    multiply_f16_16x8x16(&acc0[20], &acc0[21], &acc0[28], &acc0[29], a0[4], a0[5], a0[6], a0[7], b0[4], b0[5]);
    multiply_f16_16x8x16(&acc0[22], &acc0[23], &acc0[30], &acc0[31], a0[4], a0[5], a0[6], a0[7], b0[6], b0[7]);
    await_copies_1();
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i3 < 5) {
      #pragma unroll
      for (int i4 = 0; i4 < 2; ++i4) {
        copy_16((uint)(ulong)s0 + 4096*i3_0 + 2048*i4 + 1024*l2 + 128*(l1 / 2) + 16*((4*(l1 % 2) + (l1 / 2) + l0) % 8), &B[4096*i3 + 2048*i4 + 1024*l2 + 128*(l1 / 2) + 64*w0 + 32*(l1 % 2) + 8*l0 + 12288]);
      }
      #pragma unroll
      for (int i5 = 0; i5 < 2; ++i5) {
        copy_16((uint)(ulong)s1 + 4096*i3_0 + 2048*i5 + 1024*l2 + 64*l1 + 16*(((l1 / 2) + l0) % 4), &A[16384*w1 + 8192*i5 + 4096*l2 + 256*l1 + 32*i3 + 8*l0 + 96]);
      }
    }
    close_copies();
    // mapLocal1 over 16
    load_matrices_4(&a0[0], &a0[1], &a0[2], &a0[3], (uint)(ulong)s1 + 4096*i3_1 + 1024*(((l1 / 2)) % 2) + 512*(l1 / 8) + 256*(l1 % 2) + 64*l0 + 16*((2*(l1 % 2) + (((l1 / 4)) % 2) + (l0 / 2)) % 4));
    load_matrices_4(&a0[4], &a0[5], &a0[6], &a0[7], (uint)(ulong)s1 + 4096*i3_1 + 1024*(((l1 / 2)) % 2) + 512*(l1 / 8) + 256*(l1 % 2) + 64*l0 + 16*((2*(l1 % 2) + (((l1 / 4)) % 2) + (l0 / 2)) % 4) + 2048);
    load_matrices_4_transposed(&b0[0], &b0[1], &b0[2], &b0[3], (uint)(ulong)s0 + 4096*i3_1 + 1024*(((l1 / 2)) % 2) + 512*(l1 % 2) + 16*((((l1 / 4)) % 2) == 0 ? 9*l0 + 4*(((l1 % 2) + l2) % 2) : 8*l0 + ((4*((l1 % 2) + l2) + l0 + 1) % 8)));
    load_matrices_4_transposed(&b0[4], &b0[5], &b0[6], &b0[7], (uint)(ulong)s0 + 4096*i3_1 + 1024*(((l1 / 2)) % 2) + 512*(l1 % 2) + 128*l0 + 16*((((l1 / 4)) % 2) == 0 ? ((4*((l1 % 2) + l2) + l0 + 2) % 8) : ((4*((l1 % 2) + l2) + l0 + 3) % 8)));
    // matrix unit: 16 x 8 x 16
    multiply_f16_16x8x16(&acc0[0], &acc0[1], &acc0[8], &acc0[9], a1[0], a1[1], a1[2], a1[3], b1[0], b1[1]);
    multiply_f16_16x8x16(&acc0[2], &acc0[3], &acc0[10], &acc0[11], a1[0], a1[1], a1[2], a1[3], b1[2], b1[3]);
    multiply_f16_16x8x16(&acc0[4], &acc0[5], &acc0[12], &acc0[13], a1[0], a1[1], a1[2], a1[3], b1[4], b1[5]);
    multiply_f16_16x8x16(&acc0[6], &acc0[7], &acc0[14], &acc0[15], a1[0], a1[1], a1[2], a1[3], b1[6], b1[7]);
    multiply_f16_16x8x16(&acc0[16], &acc0[17], &acc0[24], &acc0[25], a1[4], a1[5], a1[6], a1[7], b1[0], b1[1]);
    multiply_f16_16x8x16(&acc0[18], &acc0[19], &acc0[26], &acc0[27], a1[4], a1[5], a1[6], a1[7], b1[2], b1[3]);
    multiply_f16_16x8x16(&acc0[20], &acc0[21], &acc0[28], &acc0[29], a1[4], a1[5], a1[6], a1[7], b1[4], b1[5]);
    multiply_f16_16x8x16(&acc0[22], &acc0[23], &acc0[30], &acc0[31], a1[4], a1[5], a1[6], a1[7], b1[6], b1[7]);
    i3_0 = i3_0 < 2 ? i3_0 + 1 : 0;
    i3_1 = i3_1 < 2 ? i3_1 + 1 : 0;
  }
  // mapLocal1 over 16
  // mapLocal2 over 2
  // mapLocal0 over 4
  // mapSeq over 4
  #pragma unroll
  for (int i17 = 0; i17 < 4; ++i17) {
    // mapSeq over 4
    #pragma unroll
    for (int i18 = 0; i18 < 4; ++i18) {
      // mapVec over 2
      *(global uint*)&out[8192*w1 + 2048*i17 + 128*l1 + 64*w0 + 32*l2 + 8*i18 + 2*l0] = as_uint(round_f16x2(*(private float2*)&acc0[8*i17 + 2*i18]));
    }
  }
}

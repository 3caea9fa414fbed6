void load_matrices_4(uint* r0, uint* r1, uint* r2, uint* r3, uint row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
    : "=r"(*r0), "=r"(*r1), "=r"(*r2), "=r"(*r3) : "r"(row) : "memory");
}
void load_matrices_2_transposed(uint* r0, uint* r1, uint row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
    : "=r"(*r0), "=r"(*r1) : "r"(row) : "memory");
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
  const int w0 = (4 * (int)get_group_id(1) + (int)get_group_id(0)) % 8 / 2;
  const int l0 = get_local_id(0);
  const int w1 = (4 * (int)get_group_id(1) + (int)get_group_id(0)) / 8 * 2 + (4 * (int)get_group_id(1) + (int)get_group_id(0)) % 2;
  const int l1 = get_local_id(1);
  const int l2 = get_local_id(2);
  local ushort s0[512] __attribute__((aligned(128)));
  local ushort s1[1024] __attribute__((aligned(128)));
  // mapWorkgroup1 over 2
  // mapWorkgroup0 over 4
  // reduceSeq over 4
  float acc0[16] __attribute__((aligned(8)));
  #pragma unroll
  for (int i12 = 0; i12 < 4; ++i12) {
    #pragma unroll
    for (int i13 = 0; i13 < 2; ++i13) {
      #pragma unroll
      for (int i14 = 0; i14 < 2; ++i14) {
        acc0[4*i12 + 2*i13 + i14] = 0.0f;
      }
    }
  }
  // toLocal
  ushort r0[4];
  // toLocal
  #pragma unroll
  for (int i0 = 0; i0 < 4; ++i0) {
    r0[i0] = B[512*i0 + 256*l2 + 128*(l1 / 8) + 32*w0 + 16*(((l1 / 4)) % 2) + 8*(((l1 / 2)) % 2) + 4*(l1 % 2) + l0];
  }
  ushort8 r1;
  *(private uint4*)&r1 = *(const global uint4*)&A[4096*w1 + 2048*l2 + 128*l1 + 64*(l0 / 2) + 8*(l0 % 2)];
  for (int i1 = 0; i1 < 4; ++i1) {
    #pragma unroll
    for (int i2 = 0; i2 < 4; ++i2) {
      s0[128*i2 + 64*l2 + 32*(l1 / 8) + 8*((2*i2 + (((l1 / 2)) % 4) + l2) % 4) + 4*(l1 % 2) + l0] = r0[i2];
    }
    *(local uint4*)&s1[512*l2 + 32*l1 + 16*(l0 / 2) + 8*(((l0 % 2) + (l1 / 2)) % 2)] = *(const private uint4*)&r1;
    if (i1 < 3) {
      // prefetch
      #pragma unroll
      for (int i3 = 0; i3 < 4; ++i3) {
        r0[i3] = B[2048*i1 + 512*i3 + 256*l2 + 128*(l1 / 8) + 32*w0 + 16*(((l1 / 4)) % 2) + 8*(((l1 / 2)) % 2) + 4*(l1 % 2) + l0 + 2048];
      }
      *(private uint4*)&r1 = *(const global uint4*)&A[4096*w1 + 2048*l2 + 128*l1 + 64*(l0 / 2) + 16*i1 + 8*(l0 % 2) + 16];
    }
    // mapLocal1 over 16
    barrier(CLK_LOCAL_MEM_FENCE);
    // mapLocal2 over 2
    // mapLocal0 over 4
    // reduceSeq over 16
    // matrix unit: 16 x 8 x 16
    uint a0[8];
    uint b0[2];
    load_matrices_4(&a0[0], &a0[1], &a0[2], &a0[3], (uint)(ulong)s1 + 512*(((l1 / 2)) % 2) + 256*(l1 / 8) + 128*(l1 % 2) + 32*l0 + 16*(((((l1 / 4)) % 2) + (l1 % 2)) % 2));
    load_matrices_4(&a0[4], &a0[5], &a0[6], &a0[7], (uint)(ulong)s1 + 512*(((l1 / 2)) % 2) + 256*(l1 / 8) + 128*(l1 % 2) + 32*l0 + 16*(((((l1 / 4)) % 2) + (l1 % 2)) % 2) + 1024);
    load_matrices_2_transposed(&b0[0], &b0[1], (uint)(ulong)s0 + 512*(((l1 / 2)) % 2) + 256*(l1 % 2) + 64*l0 + 32*(((l1 % 2) + l2) % 2) + 16*(l0 / 2));
    multiply_f16_16x8x16(&acc0[0], &acc0[1], &acc0[4], &acc0[5], a0[0], a0[1], a0[2], a0[3], b0[0], b0[1]);
    multiply_f16_16x8x16(&acc0[8], &acc0[9], &acc0[12], &acc0[13], a0[4], a0[5], a0[6], a0[7], b0[0], b0[1]);
    load_matrices_2_transposed(&b0[0], &b0[1], (uint)(ulong)s0 + 512*(((l1 / 2)) % 2) + 256*(l1 % 2) + 64*l0 + 16*((2*((l1 % 2) + l2) + (l0 / 2) + 1) % 4));
    multiply_f16_16x8x16(&acc0[2], &acc0[3], &acc0[6], &acc0[7], a0[0], a0[1], a0[2], a0[3], b0[0], b0[1]);
    multiply_f16_16x8x16(&acc0[10], &acc0[11], &acc0[14], &acc0[15], a0[4], a0[5], a0[6], a0[7], b0[0], b0[1]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  // mapLocal1 over 16
  // mapLocal2 over 2
  // mapLocal0 over 4
  // mapSeq over 4
  #pragma unroll
  for (int i15 = 0; i15 < 4; ++i15) {
    // mapSeq over 2
    #pragma unroll
    for (int i16 = 0; i16 < 2; ++i16) {
      // mapVec over 2
      *(global uint*)&out[8192*w1 + 2048*i15 + 128*l1 + 32*w0 + 16*l2 + 8*i16 + 2*l0] = as_uint(round_f16x2(*(private float2*)&acc0[4*i15 + 2*i16]));
    }
  }
}

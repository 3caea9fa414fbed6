void load_matrices_4(uint* r0, uint* r1, uint* r2, uint* r3, uint row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
    : "=r"(*r0), "=r"(*r1), "=r"(*r2), "=r"(*r3) : "r"(row) : "memory");
}
void load_matrices_2_transposed(uint* r0, uint* r1, uint row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
    : "=r"(*r0), "=r"(*r1) : "r"(row) : "memory");
}
void multiply_bf16_16x8x16(float* c0, float* c1, float* c2, float* c3, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
    : "+f"(*c0), "+f"(*c1), "+f"(*c2), "+f"(*c3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
ushort2 cast_f32_bf16x2(float2 a) {
  const uint2 u = as_uint2(a);
  const uint2 near = (u + 0x7fff + (u >> 16 & 1)) >> 16;
  return convert_ushort2((u & 0x7fffffff) > 0x7f800000 ? u >> 16 | 64 : near);
}

kernel __attribute__((reqd_work_group_size(4, 32, 1)))
void k0(const global ushort* restrict A, const global ushort* restrict B, global ushort* restrict out) {
  const int w0 = (8 * (int)get_group_id(1) + (int)get_group_id(0)) % 16 / 2;
  const int l0 = get_local_id(0);
  const int w1 = (8 * (int)get_group_id(1) + (int)get_group_id(0)) / 16 * 2 + (8 * (int)get_group_id(1) + (int)get_group_id(0)) % 2;
  const int l1 = get_local_id(1);
  local ushort s0[384] __attribute__((aligned(16)));
  local ushort s1[1536] __attribute__((aligned(16)));
  // mapWorkgroup1 over 2
  // mapWorkgroup0 over 8
  // reduceSeq over 4
  float acc0[8] __attribute__((aligned(8)));
  #pragma unroll
  for (int i12 = 0; i12 < 2; ++i12) {
    #pragma unroll
    for (int i13 = 0; i13 < 2; ++i13) {
      #pragma unroll
      for (int i14 = 0; i14 < 2; ++i14) {
        acc0[4*i12 + 2*i13 + i14] = 0.0f;
      }
    }
  }
  // toLocal
  ushort r0[2];
  // toLocal
  #pragma unroll
  for (int i0 = 0; i0 < 2; ++i0) {
    r0[i0] = B[1024*i0 + 128*(l1 / 4) + 16*w0 + 8*(((l1 / 2)) % 2) + 4*(l1 % 2) + l0];
  }
  ushort8 r1 = *(const global ushort8*)&A[4096*w1 + 128*l1 + 64*(l0 / 2) + 8*(l0 % 2)];
  for (int i1 = 0; i1 < 4; ++i1) {
    #pragma unroll
    for (int i2 = 0; i2 < 2; ++i2) {
      s0[192*i2 + 24*(l1 / 4) + 4*(l1 % 4) + l0] = r0[i2];
    }
    *(local ushort8*)&s1[48*l1 + 24*(l0 / 2) + 8*(l0 % 2)] = r1;
    if (i1 < 3) {
      // prefetch
      #pragma unroll
      for (int i3 = 0; i3 < 2; ++i3) {
        r0[i3] = B[2048*i1 + 1024*i3 + 128*(l1 / 4) + 16*w0 + 8*(((l1 / 2)) % 2) + 4*(l1 % 2) + l0 + 2048];
      }
      r1 = *(const global ushort8*)&A[4096*w1 + 128*l1 + 64*(l0 / 2) + 16*i1 + 8*(l0 % 2) + 16];
    }
    // mapLocal1 over 32
    barrier(CLK_LOCAL_MEM_FENCE);
    // mapLocal0 over 4
    // reduceSeq over 16
    // matrix unit: 16 x 8 x 16
    uint a0[4];
    uint b0[2];
    load_matrices_4(&a0[0], &a0[1], &a0[2], &a0[3], (uint)(ulong)s1 + 2*(768*(((l1 / 2)) % 2) + 192*(l1 / 8) + 96*(l1 % 2) + 24*l0 + 8*(((l1 / 4)) % 2)));
    load_matrices_2_transposed(&b0[0], &b0[1], (uint)(ulong)s0 + 2*(192*(((l1 / 2)) % 2) + 96*(l1 % 2) + 24*l0));
    multiply_bf16_16x8x16(&acc0[0], &acc0[1], &acc0[4], &acc0[5], a0[0], a0[1], a0[2], a0[3], b0[0], b0[1]);
    load_matrices_2_transposed(&b0[0], &b0[1], (uint)(ulong)s0 + 2*(192*(((l1 / 2)) % 2) + 96*(l1 % 2) + 24*l0 + 8));
    multiply_bf16_16x8x16(&acc0[2], &acc0[3], &acc0[6], &acc0[7], a0[0], a0[1], a0[2], a0[3], b0[0], b0[1]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  // mapLocal1 over 32
  // mapLocal0 over 4
  // mapSeq over 2
  #pragma unroll
  for (int i15 = 0; i15 < 2; ++i15) {
    // mapSeq over 2
    #pragma unroll
    for (int i16 = 0; i16 < 2; ++i16) {
      // mapVec over 2
      *(global ushort2*)&out[8192*w1 + 4096*i15 + 128*l1 + 16*w0 + 8*i16 + 2*l0] = cast_f32_bf16x2(*(private float2*)&acc0[4*i15 + 2*i16]);
    }
  }
}

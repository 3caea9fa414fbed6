void load_matrices_4(uint* r0, uint* r1, uint* r2, uint* r3, uint row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
    : "=r"(*r0), "=r"(*r1), "=r"(*r2), "=r"(*r3) : "r"(row) : "memory");
}
uint tf32(float a) {
  return as_uint(fma(as_float(as_uint(a) & 0xff800000), 0x1p-11f, a));
}
void multiply_tf32_16x8x8(float* c0, float* c1, float* c2, float* c3, float a0, float a1, float a2, float a3, float b0, float b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
    : "+f"(*c0), "+f"(*c1), "+f"(*c2), "+f"(*c3) : "r"(tf32(a0)), "r"(tf32(a1)), "r"(tf32(a2)), "r"(tf32(a3)), "r"(tf32(b0)), "r"(tf32(b1)));
}

kernel __attribute__((reqd_work_group_size(4, 32, 1)))
void k0(const global float* restrict A, const global float* restrict B, global float* restrict out) {
  const int w0 = (8 * (int)get_group_id(1) + (int)get_group_id(0)) % 16 / 2;
  const int l0 = get_local_id(0);
  const int w1 = (8 * (int)get_group_id(1) + (int)get_group_id(0)) / 16 * 2 + (8 * (int)get_group_id(1) + (int)get_group_id(0)) % 2;
  const int l1 = get_local_id(1);
  local float s0[320];
  local float s1[1280] __attribute__((aligned(16)));
  // mapWorkgroup1 over 2
  // mapWorkgroup0 over 8
  // reduceSeq over 4
  float acc0[8] __attribute__((aligned(8)));
  #pragma unroll
  for (int i15 = 0; i15 < 2; ++i15) {
    #pragma unroll
    for (int i16 = 0; i16 < 2; ++i16) {
      #pragma unroll
      for (int i17 = 0; i17 < 2; ++i17) {
        acc0[4*i15 + 2*i16 + i17] = 0.0f;
      }
    }
  }
  // toLocal
  float r0[2];
  // toLocal
  float4 r1[2];
  #pragma unroll
  for (int i0 = 0; i0 < 2; ++i0) {
    r0[i0] = B[1024*i0 + 128*(l1 / 4) + 16*w0 + 8*(((l1 / 2)) % 2) + 4*(l1 % 2) + l0];
  }
  #pragma unroll
  for (int i1 = 0; i1 < 2; ++i1) {
    r1[i1] = *(const global float4*)&A[4096*w1 + 2048*i1 + 64*l1 + 4*l0];
  }
  for (int i2 = 0; i2 < 4; ++i2) {
    #pragma unroll
    for (int i3 = 0; i3 < 2; ++i3) {
      s0[160*i3 + 20*(l1 / 4) + 4*(l1 % 4) + l0] = r0[i3];
    }
    #pragma unroll
    for (int i4 = 0; i4 < 2; ++i4) {
      *(local float4*)&s1[640*i4 + 20*l1 + 4*l0] = r1[i4];
    }
    if (i2 < 3) {
      // prefetch
      #pragma unroll
      for (int i5 = 0; i5 < 2; ++i5) {
        r0[i5] = B[2048*i2 + 1024*i5 + 128*(l1 / 4) + 16*w0 + 8*(((l1 / 2)) % 2) + 4*(l1 % 2) + l0 + 2048];
      }
      #pragma unroll
      for (int i6 = 0; i6 < 2; ++i6) {
        r1[i6] = *(const global float4*)&A[4096*w1 + 2048*i6 + 64*l1 + 16*i2 + 4*l0 + 16];
      }
    }
    // mapLocal1 over 32
    barrier(CLK_LOCAL_MEM_FENCE);
    // mapLocal0 over 4
    // reduceSeq over 16
    // matrix unit: 16 x 8 x 8
    uint a0[8];
    float b0[4];
    load_matrices_4(&a0[0], &a0[1], &a0[2], &a0[3], (uint)(ulong)s1 + 4*(640*(((l1 / 2)) % 2) + 160*(l1 / 8) + 80*(l1 % 2) + 20*l0 + 4*(((l1 / 4)) % 2)));
    load_matrices_4(&a0[4], &a0[5], &a0[6], &a0[7], (uint)(ulong)s1 + 4*(640*(((l1 / 2)) % 2) + 160*(l1 / 8) + 80*(l1 % 2) + 20*l0 + 4*(((l1 / 4)) % 2) + 8));
    b0[0] = s0[20*l0 + (l1 % 8)];
    b0[1] = s0[20*l0 + (l1 % 8) + 80];
    b0[2] = s0[20*l0 + (l1 % 8) + 160];
    b0[3] = s0[20*l0 + (l1 % 8) + 240];
    multiply_tf32_16x8x8(&acc0[0], &acc0[1], &acc0[4], &acc0[5], as_float(a0[0]), as_float(a0[1]), as_float(a0[2]), as_float(a0[3]), b0[0], b0[1]);
    multiply_tf32_16x8x8(&acc0[0], &acc0[1], &acc0[4], &acc0[5], as_float(a0[4]), as_float(a0[5]), as_float(a0[6]), as_float(a0[7]), b0[2], b0[3]);
    b0[0] = s0[20*l0 + (l1 % 8) + 8];
    b0[1] = s0[20*l0 + (l1 % 8) + 88];
    b0[2] = s0[20*l0 + (l1 % 8) + 168];
    b0[3] = s0[20*l0 + (l1 % 8) + 248];
    multiply_tf32_16x8x8(&acc0[2], &acc0[3], &acc0[6], &acc0[7], as_float(a0[0]), as_float(a0[1]), as_float(a0[2]), as_float(a0[3]), b0[0], b0[1]);
    multiply_tf32_16x8x8(&acc0[2], &acc0[3], &acc0[6], &acc0[7], as_float(a0[4]), as_float(a0[5]), as_float(a0[6]), as_float(a0[7]), b0[2], b0[3]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  #pragma unroll
  for (int i18 = 0; i18 < 2; ++i18) {
    #pragma unroll
    for (int i19 = 0; i19 < 2; ++i19) {
      *(global float2*)&out[8192*w1 + 4096*i18 + 128*l1 + 16*w0 + 8*i19 + 2*l0] = (float2)(acc0[4*i18 + 2*i19], acc0[4*i18 + 2*i19 + 1]);
    }
  }
}

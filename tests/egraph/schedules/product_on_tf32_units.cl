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

kernel __attribute__((reqd_work_group_size(4, 16, 2)))
void k0(const global float* restrict A, const global float* restrict B, global float* restrict out) {
  const int w0 = (4 * (int)get_group_id(1) + (int)get_group_id(0)) % 8 / 2;
  const int l0 = get_local_id(0);
  const int w1 = (4 * (int)get_group_id(1) + (int)get_group_id(0)) / 8 * 2 + (4 * (int)get_group_id(1) + (int)get_group_id(0)) % 2;
  const int l1 = get_local_id(1);
  const int l2 = get_local_id(2);
  local float s0[512] __attribute__((aligned(128)));
  local float s1[1024] __attribute__((aligned(128)));
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
  // toLocal
  float4 r1[2];
  float4 r0 = *(const global float4*)&B[1024*l2 + 128*(l1 / 2) + 32*w0 + 16*(l1 % 2) + 4*l0];
  #pragma unroll
  for (int i0 = 0; i0 < 2; ++i0) {
    r1[i0] = *(const global float4*)&A[4096*w1 + 2048*i0 + 1024*l2 + 64*l1 + 4*l0];
  }
  for (int i1 = 0; i1 < 4; ++i1) {
    *(local float4*)&s0[256*l2 + 32*(l1 / 2) + 4*((4*(l1 % 2) + 2*(l1 / 2) + l0) % 8)] = r0;
    #pragma unroll
    for (int i2 = 0; i2 < 2; ++i2) {
      *(local float4*)&s1[512*i2 + 256*l2 + 16*l1 + 4*(((l1 / 2) + l0) % 4)] = r1[i2];
    }
    if (i1 < 3) {
      // prefetch
      r0 = *(const global float4*)&B[2048*i1 + 1024*l2 + 128*(l1 / 2) + 32*w0 + 16*(l1 % 2) + 4*l0 + 2048];
      #pragma unroll
      for (int i3 = 0; i3 < 2; ++i3) {
        r1[i3] = *(const global float4*)&A[4096*w1 + 2048*i3 + 1024*l2 + 64*l1 + 16*i1 + 4*l0 + 16];
      }
    }
    // mapLocal1 over 16
    barrier(CLK_LOCAL_MEM_FENCE);
    // mapLocal2 over 2
    // mapLocal0 over 4
    // reduceSeq over 16
    // matrix unit: 16 x 8 x 8
    uint a0[16];
    float b0[4];
    load_matrices_4(&a0[0], &a0[1], &a0[2], &a0[3], (uint)(ulong)s1 + 1024*(((l1 / 2)) % 2) + 512*(l1 / 8) + 256*(l1 % 2) + 64*l0 + 16*((2*(l1 % 2) + (((l1 / 4)) % 2) + (l0 / 2)) % 4));
    load_matrices_4(&a0[8], &a0[9], &a0[10], &a0[11], (uint)(ulong)s1 + 1024*(((l1 / 2)) % 2) + 512*(l1 / 8) + 256*(l1 % 2) + 64*l0 + 16*((2*(l1 % 2) + (((l1 / 4)) % 2) + (l0 / 2) + 2) % 4));
    load_matrices_4(&a0[4], &a0[5], &a0[6], &a0[7], (uint)(ulong)s1 + 1024*(((l1 / 2)) % 2) + 512*(l1 / 8) + 256*(l1 % 2) + 64*l0 + 16*((2*(l1 % 2) + (((l1 / 4)) % 2) + (l0 / 2)) % 4) + 2048);
    load_matrices_4(&a0[12], &a0[13], &a0[14], &a0[15], (uint)(ulong)s1 + 1024*(((l1 / 2)) % 2) + 512*(l1 / 8) + 256*(l1 % 2) + 64*l0 + 16*((2*(l1 % 2) + (((l1 / 4)) % 2) + (l0 / 2) + 2) % 4) + 2048);
    b0[0] = s0[32*l0 + 8*((2*l2 + l0) % 4) + (l1 % 8)];
    b0[1] = s0[32*l0 + 8*((2*l2 + l0) % 4) + (l1 % 8) + 128];
    b0[2] = s0[32*l0 + 8*((2*l2 + l0) % 4) + (l1 % 8) + 256];
    b0[3] = s0[32*l0 + 8*((2*l2 + l0) % 4) + (l1 % 8) + 384];
    multiply_tf32_16x8x8(&acc0[0], &acc0[1], &acc0[4], &acc0[5], as_float(a0[0]), as_float(a0[1]), as_float(a0[2]), as_float(a0[3]), b0[0], b0[1]);
    multiply_tf32_16x8x8(&acc0[8], &acc0[9], &acc0[12], &acc0[13], as_float(a0[4]), as_float(a0[5]), as_float(a0[6]), as_float(a0[7]), b0[0], b0[1]);
    multiply_tf32_16x8x8(&acc0[0], &acc0[1], &acc0[4], &acc0[5], as_float(a0[8]), as_float(a0[9]), as_float(a0[10]), as_float(a0[11]), b0[2], b0[3]);
    multiply_tf32_16x8x8(&acc0[8], &acc0[9], &acc0[12], &acc0[13], as_float(a0[12]), as_float(a0[13]), as_float(a0[14]), as_float(a0[15]), b0[2], b0[3]);
    b0[0] = s0[32*l0 + 8*((2*l2 + l0 + 1) % 4) + (l1 % 8)];
    b0[1] = s0[32*l0 + 8*((2*l2 + l0 + 1) % 4) + (l1 % 8) + 128];
    b0[2] = s0[32*l0 + 8*((2*l2 + l0 + 1) % 4) + (l1 % 8) + 256];
    b0[3] = s0[32*l0 + 8*((2*l2 + l0 + 1) % 4) + (l1 % 8) + 384];
    multiply_tf32_16x8x8(&acc0[2], &acc0[3], &acc0[6], &acc0[7], as_float(a0[0]), as_float(a0[1]), as_float(a0[2]), as_float(a0[3]), b0[0], b0[1]);
    multiply_tf32_16x8x8(&acc0[10], &acc0[11], &acc0[14], &acc0[15], as_float(a0[4]), as_float(a0[5]), as_float(a0[6]), as_float(a0[7]), b0[0], b0[1]);
    multiply_tf32_16x8x8(&acc0[2], &acc0[3], &acc0[6], &acc0[7], as_float(a0[8]), as_float(a0[9]), as_float(a0[10]), as_float(a0[11]), b0[2], b0[3]);
    multiply_tf32_16x8x8(&acc0[10], &acc0[11], &acc0[14], &acc0[15], as_float(a0[12]), as_float(a0[13]), as_float(a0[14]), as_float(a0[15]), b0[2], b0[3]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  #pragma unroll
  for (int i15 = 0; i15 < 4; ++i15) {
    #pragma unroll
    for (int i16 = 0; i16 < 2; ++i16) {
      *(global float2*)&out[8192*w1 + 2048*i15 + 128*l1 + 32*w0 + 16*l2 + 8*i16 + 2*l0] = (float2)(acc0[4*i15 + 2*i16], acc0[4*i15 + 2*i16 + 1]);
    }
  }
}

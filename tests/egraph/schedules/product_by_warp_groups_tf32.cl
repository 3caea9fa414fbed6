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
void show_units() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}
ulong tile_place(uint at, uint far) {
  return (ulong)(at / 16 & 0x3fff) | (ulong)(far / 16) << 16 | 64ul << 32 | 1ul << 62;
}
#ifndef BUILT_FOR_ITS_OWN_TARGET
#error "comments in this kernel are instructions: compile it with egglift, which builds its PTX again for sm_90a"
#endif
#define TOTALS_32 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"
void multiply_tf32_groups_64x64x32_along_along(float* c, float* d, ulong rows, ulong columns) {
  asm volatile(
    "//@wgmma.fence.sync.aligned;\n"
    "//@wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 " TOTALS_32 ", %32, %33, 1, 1, 1;\n"
    "//@wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 " TOTALS_32 ", %34, %35, 1, 1, 1;\n"
    "//@wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 " TOTALS_32 ", %36, %37, 1, 1, 1;\n"
    "//@wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 " TOTALS_32 ", %38, %39, 1, 1, 1;\n"
    "//@wgmma.commit_group.sync.aligned;\n"
    : "+f"(c[0]), "+f"(c[1]), "+f"(d[0]), "+f"(d[1]), "+f"(c[2]), "+f"(c[3]), "+f"(d[2]), "+f"(d[3]), "+f"(c[4]), "+f"(c[5]), "+f"(d[4]), "+f"(d[5]), "+f"(c[6]), "+f"(c[7]), "+f"(d[6]), "+f"(d[7]), "+f"(c[8]), "+f"(c[9]), "+f"(d[8]), "+f"(d[9]), "+f"(c[10]), "+f"(c[11]), "+f"(d[10]), "+f"(d[11]), "+f"(c[12]), "+f"(c[13]), "+f"(d[12]), "+f"(d[13]), "+f"(c[14]), "+f"(c[15]), "+f"(d[14]), "+f"(d[15])
    : "l"(rows + 0), "l"(columns + 0), "l"(rows + 2), "l"(columns + 2), "l"(rows + 4), "l"(columns + 4), "l"(rows + 6), "l"(columns + 6) : "memory");
}
void await_copies_0() {
  asm volatile("cp.async.wait_group 0;" : : : "memory");
}
void await_products_16(float* c, float* d) {
  asm volatile(
    "//@wgmma.wait_group.sync.aligned 0;\n"
    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]) : : "memory");
}

kernel __attribute__((reqd_work_group_size(4, 8, 8)))
void k0(const global float* restrict _stage0, const global float* restrict _stage1, global float* restrict out) {
  const int w0 = (4 * (int)get_group_id(1) + (int)get_group_id(0)) % 8 / 2;
  const int l0 = get_local_id(0);
  const int w1 = (4 * (int)get_group_id(1) + (int)get_group_id(0)) / 8 * 2 + (4 * (int)get_group_id(1) + (int)get_group_id(0)) % 2;
  const int l1 = get_local_id(1);
  const int l2 = get_local_id(2);
  local float s0[6144] __attribute__((aligned(1024)));
  local float s1[12288] __attribute__((aligned(1024)));
  // mapWorkgroup1 over 2
  // mapWorkgroup0 over 4
  // reduceSeq over 8
  float acc0[32] __attribute__((aligned(8)));
  #pragma unroll
  for (int i12 = 0; i12 < 2; ++i12) {
    #pragma unroll
    for (int i13 = 0; i13 < 8; ++i13) {
      #pragma unroll
      for (int i14 = 0; i14 < 2; ++i14) {
        acc0[16*i12 + 2*i13 + i14] = 0.0f;
      }
    }
  }
  // toLocal, 3 buffers
  // toLocal, 3 buffers
  #pragma unroll
  for (int i0 = 0; i0 < 2; ++i0) {
    #pragma unroll
    for (int i1 = 0; i1 < 2; ++i1) {
      copy_16((uint)(ulong)s0 + 8192*i0 + 4096*i1 + 512*l2 + 128*(l1 / 2) + 64*(((l1 % 2) + (l2 % 2)) % 2) + 32*(((l0 / 2) + (l1 / 4)) % 2) + 16*(((l1 / 2) + l0) % 2), &_stage1[16384*w0 + 8192*i1 + 1024*l2 + 256*(l1 / 2) + 32*i0 + 16*(l1 % 2) + 4*l0]);
    }
    #pragma unroll
    for (int i2 = 0; i2 < 4; ++i2) {
      copy_16((uint)(ulong)s1 + 16384*i0 + 4096*i2 + 512*l2 + 128*(l1 / 2) + 64*(((l1 % 2) + (l2 % 2)) % 2) + 32*(((l0 / 2) + (l1 / 4)) % 2) + 16*(((l1 / 2) + l0) % 2), &_stage0[32768*w1 + 8192*i2 + 1024*l2 + 256*(l1 / 2) + 32*i0 + 16*(l1 % 2) + 4*l0]);
    }
    close_copies();
  }
  await_copies_1();
  show_units();
  barrier(CLK_LOCAL_MEM_FENCE);
  int i3_0 = 0;
  int i3_2 = 2;
  for (int i3 = 0; i3 < 8; ++i3) {
    // mapLocal1 over 8
    // mapLocal0 over 4
    // reduceSeq over 32
    multiply_tf32_groups_64x64x32_along_along(&acc0[0], &acc0[16], tile_place((uint)(ulong)s1 + 16384*i3_0 + 8192*(l2 / 4), 16), tile_place((uint)(ulong)s0 + 8192*i3_0, 16));
    await_copies_0();
    show_units();
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i3 < 6) {
      #pragma unroll
      for (int i4 = 0; i4 < 2; ++i4) {
        copy_16((uint)(ulong)s0 + 8192*i3_2 + 4096*i4 + 512*l2 + 128*(l1 / 2) + 64*(((l1 % 2) + (l2 % 2)) % 2) + 32*(((l0 / 2) + (l1 / 4)) % 2) + 16*(((l1 / 2) + l0) % 2), &_stage1[16384*w0 + 8192*i4 + 1024*l2 + 256*(l1 / 2) + 32*i3 + 16*(l1 % 2) + 4*l0 + 64]);
      }
      #pragma unroll
      for (int i5 = 0; i5 < 4; ++i5) {
        copy_16((uint)(ulong)s1 + 16384*i3_2 + 4096*i5 + 512*l2 + 128*(l1 / 2) + 64*(((l1 % 2) + (l2 % 2)) % 2) + 32*(((l0 / 2) + (l1 / 4)) % 2) + 16*(((l1 / 2) + l0) % 2), &_stage0[32768*w1 + 8192*i5 + 1024*l2 + 256*(l1 / 2) + 32*i3 + 16*(l1 % 2) + 4*l0 + 64]);
      }
    }
    close_copies();
    // mapLocal2 over 8
    await_products_16(&acc0[0], &acc0[16]);
    i3_0 = i3_0 < 2 ? i3_0 + 1 : 0;
    i3_2 = i3_2 < 2 ? i3_2 + 1 : 0;
  }
  #pragma unroll
  for (int i15 = 0; i15 < 2; ++i15) {
    #pragma unroll
    for (int i16 = 0; i16 < 8; ++i16) {
      *(global float2*)&out[32768*w1 + 4096*l2 + 2048*i15 + 256*l1 + 64*w0 + 8*i16 + 2*l0] = (float2)(acc0[16*i15 + 2*i16], acc0[16*i15 + 2*i16 + 1]);
    }
  }
}

typedef float8 float8_any __attribute__((aligned(4)));

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k0(const global float* restrict B, global float* restrict tmp0) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 3
  if (g0 < 2) {
    // mapSeq over 7
    for (int i2 = 0; i2 < 7; ++i2) {
      // mapSeqUnroll over 2
      #pragma unroll
      for (int i3 = 0; i3 < 2; ++i3) {
        // mapVec over 8
        *(global float8*)&tmp0[112*g0 + 16*i2 + 8*i3] = *(const global float8_any*)&B[35*i2 + 16*g0 + 8*i3];
      }
    }
  } else {
    // mapSeq over 7
    for (int i0 = 0; i0 < 7; ++i0) {
      // mapSeqUnroll over 2
      #pragma unroll
      for (int i1 = 0; i1 < 2; ++i1) {
        // mapVec over 8
        *(global float8*)&tmp0[112*g0 + 16*i0 + 8*i1] = (float8)(B[35*i0 + ((16*g0 + 8*i1) < 34 ? (16*g0 + 8*i1) : 34)], B[35*i0 + ((16*g0 + 8*i1 + 1) < 34 ? (16*g0 + 8*i1 + 1) : 34)], B[35*i0 + ((16*g0 + 8*i1 + 2) < 34 ? (16*g0 + 8*i1 + 2) : 34)], B[35*i0 + ((16*g0 + 8*i1 + 3) < 34 ? (16*g0 + 8*i1 + 3) : 34)], B[35*i0 + ((16*g0 + 8*i1 + 4) < 34 ? (16*g0 + 8*i1 + 4) : 34)], B[35*i0 + ((16*g0 + 8*i1 + 5) < 34 ? (16*g0 + 8*i1 + 5) : 34)], B[35*i0 + ((16*g0 + 8*i1 + 6) < 34 ? (16*g0 + 8*i1 + 6) : 34)], B[35*i0 + ((16*g0 + 8*i1 + 7) < 34 ? (16*g0 + 8*i1 + 7) : 34)]);
      }
    }
  }
}

typedef float16 float16_any __attribute__((aligned(4)));

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k1(const global float* restrict A, const global float* restrict tmp0, global float* restrict out) {
  const long g0 = get_global_id(0);
  const long g1 = get_global_id(1);
  // mapGlobal1 over 3
  // mapGlobal0 over 3
  if (g1 < 2 && g0 < 2) {
    // reduceSeq over 3
    float acc2[96] __attribute__((aligned(64)));
    #pragma unroll
    for (int i11 = 0; i11 < 6; ++i11) {
      *(private float16*)&acc2[16*i11] = (float16)(0.0f);
    }
    for (int i12 = 0; i12 < 3; ++i12) {
      // reduceSeq over 2
      #pragma unroll
      for (int i14 = 0; i14 < 2; ++i14) {
        // mapSeqUnroll over 6
        #pragma unroll
        for (int i15 = 0; i15 < 6; ++i15) {
          // mapSeqUnroll over 2
          #pragma unroll
          for (int i16 = 0; i16 < 2; ++i16) {
            // mapVec over 8
            *(private float8*)&acc2[16*i15 + 8*i16] = *(private float8*)&acc2[16*i15 + 8*i16] + ((float8)(A[42*g1 + 7*i15 + 2*i12 + i14]) * *(const global float8*)&tmp0[112*g0 + 32*i12 + 16*i14 + 8*i16]);
          }
        }
      }
    }
    // reduceSeq over 1
    float acc3[96] __attribute__((aligned(64)));
    #pragma unroll
    for (int i17 = 0; i17 < 6; ++i17) {
      *(private float16*)&acc3[16*i17] = *(private float16*)&acc2[16*i17];
    }
    // mapSeqUnroll over 6
    #pragma unroll
    for (int i18 = 0; i18 < 6; ++i18) {
      // mapSeqUnroll over 2
      #pragma unroll
      for (int i19 = 0; i19 < 2; ++i19) {
        // mapVec over 8
        *(private float8*)&acc3[16*i18 + 8*i19] = *(private float8*)&acc3[16*i18 + 8*i19] + ((float8)(A[42*g1 + 7*i18 + 6]) * *(const global float8*)&tmp0[112*g0 + 8*i19 + 96]);
      }
    }
    #pragma unroll
    for (int i20 = 0; i20 < 6; ++i20) {
      *(global float16_any*)&out[210*g1 + 35*i20 + 16*g0] = *(private float16*)&acc3[16*i20];
    }
  } else {
    // reduceSeq over 3
    float acc0[96] __attribute__((aligned(64)));
    #pragma unroll
    for (int i0 = 0; i0 < 6; ++i0) {
      *(private float16*)&acc0[16*i0] = (float16)(0.0f);
    }
    for (int i1 = 0; i1 < 3; ++i1) {
      // reduceSeq over 2
      #pragma unroll
      for (int i3 = 0; i3 < 2; ++i3) {
        // mapSeqUnroll over 6
        #pragma unroll
        for (int i4 = 0; i4 < 6; ++i4) {
          // mapSeqUnroll over 2
          #pragma unroll
          for (int i5 = 0; i5 < 2; ++i5) {
            // mapVec over 8
            *(private float8*)&acc0[16*i4 + 8*i5] = *(private float8*)&acc0[16*i4 + 8*i5] + ((float8)(A[7*((6*g1 + i4) < 12 ? (6*g1 + i4) : 12) + 2*i1 + i3]) * *(const global float8*)&tmp0[112*g0 + 32*i1 + 16*i3 + 8*i5]);
          }
        }
      }
    }
    // reduceSeq over 1
    float acc1[96] __attribute__((aligned(64)));
    #pragma unroll
    for (int i6 = 0; i6 < 6; ++i6) {
      *(private float16*)&acc1[16*i6] = *(private float16*)&acc0[16*i6];
    }
    // mapSeqUnroll over 6
    #pragma unroll
    for (int i7 = 0; i7 < 6; ++i7) {
      // mapSeqUnroll over 2
      #pragma unroll
      for (int i8 = 0; i8 < 2; ++i8) {
        // mapVec over 8
        *(private float8*)&acc1[16*i7 + 8*i8] = *(private float8*)&acc1[16*i7 + 8*i8] + ((float8)(A[7*((6*g1 + i7) < 12 ? (6*g1 + i7) : 12) + 6]) * *(const global float8*)&tmp0[112*g0 + 8*i8 + 96]);
      }
    }
    #pragma unroll
    for (int i9 = 0; i9 < 6; ++i9) {
      #pragma unroll
      for (int i10 = 0; i10 < 16; ++i10) {
        if (16*g0 + i10 < 35 && 6*g1 + i9 < 13) {
          out[210*g1 + 35*i9 + 16*g0 + i10] = acc1[16*i9 + i10];
        }
      }
    }
  }
}

typedef float4 float4_any __attribute__((aligned(4)));

kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void k0(const global float* restrict B, global float* restrict tmp0, const int k, const int k_by_8, const int k_minus_1, const int k_plus_7_by_8, const int m, const int m_x8) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over k_plus_7_by_8
  if (g0 < k_plus_7_by_8) {
    if (g0 < k_by_8) {
      // mapSeq over m
      for (int i2 = 0; i2 < m; ++i2) {
        // mapSeq over 2
        for (int i3 = 0; i3 < 2; ++i3) {
          // mapVec over 4
          *(global float4*)&tmp0[m_x8*g0 + 8*i2 + 4*i3] = *(const global float4_any*)&B[k*i2 + 8*g0 + 4*i3];
        }
      }
    } else {
      // mapSeq over m
      for (int i0 = 0; i0 < m; ++i0) {
        // mapSeq over 2
        for (int i1 = 0; i1 < 2; ++i1) {
          // mapVec over 4
          *(global float4*)&tmp0[m_x8*g0 + 8*i0 + 4*i1] = (float4)(B[k*i0 + ((8*g0 + 4*i1) < k_minus_1 ? (8*g0 + 4*i1) : k_minus_1)], B[k*i0 + ((8*g0 + 4*i1 + 1) < k_minus_1 ? (8*g0 + 4*i1 + 1) : k_minus_1)], B[k*i0 + ((8*g0 + 4*i1 + 2) < k_minus_1 ? (8*g0 + 4*i1 + 2) : k_minus_1)], B[k*i0 + ((8*g0 + 4*i1 + 3) < k_minus_1 ? (8*g0 + 4*i1 + 3) : k_minus_1)]);
        }
      }
    }
  }
}

kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void k1(const global float* restrict A, const global float* restrict tmp0, global float* restrict out, const int k, const int k_by_8, const int k_plus_7_by_8, const int k_x4, const int m, const int m_x4, const int m_x8, const int n, const int n_by_4, const int n_minus_1, const int n_plus_3_by_4) {
  const long g0 = get_global_id(0);
  const long g1 = get_global_id(1);
  // mapGlobal1 over n_plus_3_by_4
  // mapGlobal0 over k_plus_7_by_8
  if (g0 < k_plus_7_by_8) {
    if (g1 < n_by_4 && g0 < k_by_8) {
      // reduceSeq over m
      float acc1[32] __attribute__((aligned(16)));
      #pragma unroll
      for (int i10 = 0; i10 < 4; ++i10) {
        #pragma unroll
        for (int i11 = 0; i11 < 2; ++i11) {
          *(private float4*)&acc1[8*i10 + 4*i11] = (float4)(0.0f);
        }
      }
      for (int i12 = 0; i12 < m; ++i12) {
        // toPrivate
        float r2[8] __attribute__((aligned(16)));
        #pragma unroll
        for (int i13 = 0; i13 < 2; ++i13) {
          {
            const float4 v4_0 = *(const global float4*)&tmp0[m_x8*g0 + 8*i12 + 4*i13];
            r2[4*i13] = v4_0.s0;
            r2[4*i13 + 1] = v4_0.s1;
            r2[4*i13 + 2] = v4_0.s2;
            r2[4*i13 + 3] = v4_0.s3;
          }
        }
        // toPrivate
        float r3[4];
        #pragma unroll
        for (int i14 = 0; i14 < 4; ++i14) {
          r3[i14] = A[m*i14 + m_x4*g1 + i12];
        }
        // mapSeq over 4
        #pragma unroll
        for (int i15 = 0; i15 < 4; ++i15) {
          // mapSeq over 2
          #pragma unroll
          for (int i16 = 0; i16 < 2; ++i16) {
            // mapVec over 4
            *(private float4*)&acc1[8*i15 + 4*i16] = *(private float4*)&acc1[8*i15 + 4*i16] + ((float4)(r3[i15]) * *(private float4*)&r2[4*i16]);
          }
        }
      }
      #pragma unroll
      for (int i17 = 0; i17 < 4; ++i17) {
        #pragma unroll
        for (int i18 = 0; i18 < 2; ++i18) {
          *(global float4_any*)&out[k*i17 + k_x4*g1 + 8*g0 + 4*i18] = (float4)(acc1[8*i17 + 4*i18], acc1[8*i17 + 4*i18 + 1], acc1[8*i17 + 4*i18 + 2], acc1[8*i17 + 4*i18 + 3]);
        }
      }
    } else {
      // reduceSeq over m
      float acc0[32] __attribute__((aligned(16)));
      #pragma unroll
      for (int i0 = 0; i0 < 4; ++i0) {
        #pragma unroll
        for (int i1 = 0; i1 < 2; ++i1) {
          *(private float4*)&acc0[8*i0 + 4*i1] = (float4)(0.0f);
        }
      }
      for (int i2 = 0; i2 < m; ++i2) {
        // toPrivate
        float r0[8] __attribute__((aligned(16)));
        #pragma unroll
        for (int i3 = 0; i3 < 2; ++i3) {
          {
            const float4 v1_0 = *(const global float4*)&tmp0[m_x8*g0 + 8*i2 + 4*i3];
            r0[4*i3] = v1_0.s0;
            r0[4*i3 + 1] = v1_0.s1;
            r0[4*i3 + 2] = v1_0.s2;
            r0[4*i3 + 3] = v1_0.s3;
          }
        }
        // toPrivate
        float r1[4];
        #pragma unroll
        for (int i4 = 0; i4 < 4; ++i4) {
          r1[i4] = A[m*((4*g1 + i4) < n_minus_1 ? (4*g1 + i4) : n_minus_1) + i2];
        }
        // mapSeq over 4
        #pragma unroll
        for (int i5 = 0; i5 < 4; ++i5) {
          // mapSeq over 2
          #pragma unroll
          for (int i6 = 0; i6 < 2; ++i6) {
            // mapVec over 4
            *(private float4*)&acc0[8*i5 + 4*i6] = *(private float4*)&acc0[8*i5 + 4*i6] + ((float4)(r1[i5]) * *(private float4*)&r0[4*i6]);
          }
        }
      }
      #pragma unroll
      for (int i7 = 0; i7 < 4; ++i7) {
        if (4*g1 + i7 < n) {
          #pragma unroll
          for (int i8 = 0; i8 < 2; ++i8) {
            #pragma unroll
            for (int i9 = 0; i9 < 4; ++i9) {
              if (8*g0 + 4*i8 + i9 < k) {
                out[k*i7 + k_x4*g1 + 8*g0 + 4*i8 + i9] = acc0[8*i7 + 4*i8 + i9];
              }
            }
          }
        }
      }
    }
  }
}

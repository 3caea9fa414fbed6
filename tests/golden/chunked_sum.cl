typedef float16 float16_any __attribute__((aligned(4)));

kernel __attribute__((reqd_work_group_size(3, 1, 1)))
void k0(const global float* restrict x, global float* restrict tmp0) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 3
  // toPrivate
  float r0[64] __attribute__((aligned(64)));
  // mapVec over 64
  // reduceSeq over 4
  float16 acc0[4];
  acc0[0] = (float16)(0.0f);
  acc0[1] = (float16)(0.0f);
  acc0[2] = (float16)(0.0f);
  acc0[3] = (float16)(0.0f);
  for (int i0 = 0; i0 < 4; ++i0) {
    acc0[0] += *(const global float16_any*)&x[256*g0 + 64*i0];
    acc0[1] += *(const global float16_any*)&x[256*g0 + 64*i0 + 16];
    acc0[2] += *(const global float16_any*)&x[256*g0 + 64*i0 + 32];
    acc0[3] += *(const global float16_any*)&x[256*g0 + 64*i0 + 48];
  }
  *(private float16*)&r0[0] = acc0[0];
  *(private float16*)&r0[16] = acc0[1];
  *(private float16*)&r0[32] = acc0[2];
  *(private float16*)&r0[48] = acc0[3];
  // tree over 64
  float r1[32] __attribute__((aligned(64)));
  *(private float16*)&r1[0] = *(private float16*)&r0[0] + *(private float16*)&r0[32];
  *(private float16*)&r1[16] = *(private float16*)&r0[16] + *(private float16*)&r0[48];
  *(private float16*)&r1[0] = *(private float16*)&r1[0] + *(private float16*)&r1[16];
  *(private float8*)&r1[0] = *(private float8*)&r1[0] + *(private float8*)&r1[8];
  *(private float4*)&r1[0] = *(private float4*)&r1[0] + *(private float4*)&r1[4];
  *(private float2*)&r1[0] = *(private float2*)&r1[0] + *(private float2*)&r1[2];
  r1[0] += r1[1];
  float acc1 = 0.0f + r1[0];
  tmp0[g0] = acc1;
}

kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void k1(const global float* restrict x, const global float* restrict tmp0, global float* restrict out) {
  // reduceSeq over 235
  float acc0 = 0.0f;
  for (int i0 = 0; i0 < 3; ++i0) {
    acc0 += tmp0[i0];
  }
  for (int i1 = 0; i1 < 232; ++i1) {
    acc0 += x[i1 + 768];
  }
  out[0] = acc0;
}

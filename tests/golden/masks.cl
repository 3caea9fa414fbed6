#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double8 double8_any __attribute__((aligned(8)));
typedef uchar8 uchar8_any __attribute__((aligned(1)));
long8 convert_long_i8x8(char8 a) { return (long8)(convert_long4(a.lo), convert_long4(a.hi)); }
char8 convert_char_i64x8(long8 a) { return (char8)(convert_char4(a.lo), convert_char4(a.hi)); }

kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void k0(const global uchar* restrict b, const global double* restrict u, const global double* restrict v, global uchar* restrict out) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 16
  // mapVec over 8
  *(global uchar8_any*)&out[8*g0] = as_uchar8(convert_char_i64x8((*(const global double8_any*)&v[8*g0] < *(const global double8_any*)&u[8*g0]) & convert_long_i8x8(*(const global uchar8_any*)&b[8*g0] != (uchar8)(0))) & (char8)(1));
}

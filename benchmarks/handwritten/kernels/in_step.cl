// Work-items that go in step: on NVIDIA's GPUs the first 32 of a group wait for each other, elsewhere all of a group do.
#ifdef WARP
#define LAST(lid) (lid < WARP)
#define IN_STEP() asm volatile("bar.warp.sync 0xffffffff;" : : : "memory")
#else
#define LAST(lid) true
#define IN_STEP() barrier(CLK_LOCAL_MEM_FENCE)
#endif

/* two_kernels: an array program as OpenCL, written by egglift.  Needs OpenCL 1.2, and nothing else.
 *
 * x: f32[100], read
 * out: f32[100], written
 *
 * Every function that can fail returns one of the codes below; two_kernels_message says more.  A handle is used by one
 * thread at a time; threads with handles of their own do not disturb each other.  (Some drivers, PoCL 3 for one, fail
 * when several threads are the first to call them: make a handle before these threads begin.)
 */
#ifndef TWO_KERNELS_H
#define TWO_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TWO_KERNELS_OK = 0,
    TWO_KERNELS_NO_DEVICE = 1,    /* no device is of this type and name */
    TWO_KERNELS_UNSUITABLE = 2,   /* the device allows no groups or no local memory of this size */
    TWO_KERNELS_NOT_BUILT = 3,    /* the OpenCL compiler refused the kernels: the message is its log */
    TWO_KERNELS_WRONG_LENGTH = 4, /* an array has another length, or a buffer fewer bytes */
    TWO_KERNELS_OVERLAP = 5,      /* a buffer that is written shares memory with another one */
    TWO_KERNELS_WRONG_QUEUE = 6,  /* the queue is not of the handle's context and device */
    TWO_KERNELS_NO_MEMORY = 7,    /* the host or the device has no room */
    TWO_KERNELS_OPENCL_ERROR = 8  /* OpenCL refused something else: the message has its code */
};

/* The kernels, compiled for a device, and memory for what is between them. */
typedef struct two_kernels_handle two_kernels_handle;

/* Where to run.  All zero: on the first GPU, else on the first device. */
typedef struct {
    cl_device_type type;  /* CL_DEVICE_TYPE_GPU, ...; 0: of any type */
    const char *name;     /* a part of the device's or its platform's name, in any case; NULL: any */
    cl_context context;   /* the caller's; then type and name are not looked at */
    cl_device_id device;  /* of that context; NULL: its first */
} two_kernels_choice;

/* Compiles for a device.  choice may be NULL.  *made is to be released also where it failed: it has the message. */
int two_kernels_init(two_kernels_handle **made, const two_kernels_choice *choice);

/* Computes from arrays of the host, and waits.  Lengths count elements.  Results may be inputs too. */
int two_kernels_run(two_kernels_handle *self,
    const float *x, size_t x_length,
    float *out, size_t out_length);

/* The same from buffers of the device, without waiting.  A number is a buffer with one element.
 * queue: of the handle's context and device, in or out of order; NULL: the handle's own.
 * The first kernel waits for the events in wait_list; *event, if event is not NULL, is that of the last one. */
int two_kernels_enqueue(two_kernels_handle *self, cl_command_queue queue, cl_mem x, cl_mem out,
    cl_uint waits, const cl_event *wait_list, cl_event *event);

/* Waits for what the handle's own queue was given. */
int two_kernels_finish(two_kernels_handle *self);

/* What the last call on this handle that failed met, with the compiler's log; never NULL. */
const char *two_kernels_message(const two_kernels_handle *self);

cl_context two_kernels_context(const two_kernels_handle *self);
cl_device_id two_kernels_device(const two_kernels_handle *self);

/* Gives everything back.  self may be NULL. */
void two_kernels_release(two_kernels_handle *self);

/* All in one: init, run, release.  size bytes at message (may be NULL) get the message. */
int two_kernels_run_once(const two_kernels_choice *choice,
    const float *x, size_t x_length,
    float *out, size_t out_length, char *message, size_t size);

#ifdef __cplusplus
}
#endif

#endif

/* Misuses an exported `axpy` of two arrays of 100 numbers, and says what is not answered as it should be. */
#include "axpy.h"

#include <stdio.h>
#include <string.h>

#define N 100

static int wrong;

static void expect(int line, int code, int wanted, const char *message, const char *part)
{
    if (code != wanted || strstr(message, part) == NULL) {
        printf("line %d: code %d for %d: %s\n", line, code, wanted, message);
        wrong = 1;
    }
}

#define EXPECT(call, wanted, part) \
    do { \
        int code = (call); \
        expect(__LINE__, code, wanted, axpy_message(h), part); \
    } while (0)

static cl_mem buffer(axpy_handle *h, size_t bytes)
{
    return clCreateBuffer(axpy_context(h), CL_MEM_READ_WRITE, bytes, NULL, NULL);
}

static void hosts(axpy_handle *h)
{
    static float x[N], y[N], out[N];
    char message[100];
    int i;
    for (i = 0; i < N; i++)
        x[i] = (float)i, y[i] = 1.0f;
    EXPECT(axpy_run(h, x, N - 1, y, N, out, N), AXPY_WRONG_LENGTH, "x has 99 elements, 100 are wanted");
    EXPECT(axpy_run(h, x, N, y, N, out, N + 1), AXPY_WRONG_LENGTH, "out has 101 elements, 100 are wanted");
    EXPECT(axpy_run(h, x, N, NULL, N, out, N), AXPY_WRONG_LENGTH, "y is NULL");
    EXPECT(axpy_run(h, x, N, y, N, out, N), AXPY_OK, "");
    EXPECT(axpy_run(h, x, N, y, N, x, N), AXPY_OK, ""); /* what is read may be written */
    EXPECT(memcmp(x, out, sizeof x), 0, "");
    EXPECT(axpy_run_once(NULL, x, N, y, 3, out, N, message, sizeof message), AXPY_WRONG_LENGTH, "");
    expect(__LINE__, 0, 0, message, "y has 3 elements");
    EXPECT(axpy_run_once(NULL, x, N, y, N, out, N, NULL, 0), AXPY_OK, "");
}

static void devices(void)
{
    axpy_handle *h;
    axpy_choice choice = {0, NULL, NULL, NULL};
    choice.name = "no such device";
    EXPECT(axpy_init(&h, &choice), AXPY_NO_DEVICE, "is named like 'no such device'");
    axpy_release(h);
    choice.name = NULL;
    choice.type = CL_DEVICE_TYPE_CUSTOM;
    EXPECT(axpy_init(&h, &choice), AXPY_NO_DEVICE, "of type 0x10 ");
    axpy_release(h);
    choice.name = "PORTABLE";
    choice.type = CL_DEVICE_TYPE_CPU;
    EXPECT(axpy_init(&h, &choice), AXPY_OK, "");
    axpy_release(h);
    axpy_release(NULL);
}

static void buffers(axpy_handle *h)
{
    float data[N], found[N];
    cl_mem x = buffer(h, sizeof data), y = buffer(h, sizeof data), out = buffer(h, sizeof data), few = buffer(h, 8);
    cl_context other = clCreateContext(NULL, 1, (cl_device_id[]){axpy_device(h)}, NULL, NULL, NULL);
    cl_command_queue foreign = clCreateCommandQueue(other, axpy_device(h), 0, NULL);
    cl_command_queue own = clCreateCommandQueue(axpy_context(h), axpy_device(h),
        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
    cl_event written[2], done;
    axpy_choice choice = {0, NULL, NULL, NULL};
    axpy_handle *second;
    int i;
    for (i = 0; i < N; i++)
        data[i] = (float)i;
    EXPECT(axpy_enqueue(h, NULL, x, few, out, 0, NULL, NULL), AXPY_WRONG_LENGTH, "buffer y has 8 bytes, 400 are wanted");
    EXPECT(axpy_enqueue(h, NULL, x, y, x, 0, NULL, NULL), AXPY_OVERLAP, "x shares memory with out, which is written");
    EXPECT(axpy_enqueue(h, foreign, x, y, out, 0, NULL, NULL), AXPY_WRONG_QUEUE, "another context");
    clEnqueueWriteBuffer(own, x, CL_FALSE, 0, sizeof data, data, 0, NULL, &written[0]);
    clEnqueueWriteBuffer(own, y, CL_FALSE, 0, sizeof data, data, 0, NULL, &written[1]);
    EXPECT(axpy_enqueue(h, own, x, y, out, 2, written, &done), AXPY_OK, "");
    clEnqueueReadBuffer(own, out, CL_TRUE, 0, sizeof found, found, 1, &done, NULL);
    for (i = 0; i < N; i++)
        expect(__LINE__, found[i] == 3.0f * (float)i, 1, "a wrong result", "");
    EXPECT(axpy_finish(h), AXPY_OK, "");

    choice.context = axpy_context(h); /* the same buffers serve a handle that is made for their context */
    EXPECT(axpy_init(&second, &choice), AXPY_OK, "");
    EXPECT(axpy_enqueue(second, NULL, x, y, out, 0, NULL, NULL), AXPY_OK, "");
    axpy_release(second);
    for (i = 0; i < 2; i++)
        clReleaseEvent(written[i]);
    clReleaseEvent(done);
    clReleaseCommandQueue(foreign);
    clReleaseCommandQueue(own);
    clReleaseContext(other);
    clReleaseMemObject(x), clReleaseMemObject(y), clReleaseMemObject(out), clReleaseMemObject(few);
}

int main(void)
{
    axpy_handle *h;
    EXPECT(axpy_init(&h, NULL), AXPY_OK, "");
    hosts(h);
    buffers(h);
    devices();
    axpy_release(h);
    return wrong;
}

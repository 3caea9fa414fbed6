/* two_kernels: written by egglift; two_kernels.h says how it is called. */
#include "two_kernels.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INPUTS = 1,
    OUTPUTS = 1,
    TEMPORARIES = 1, /* between kernels */
    OWN = TEMPORARIES + 0, /* and constants */
    BUFFERS = INPUTS + OUTPUTS + OWN, /* numbered in this order */
    LENGTHS = 0, /* that a call says */
    SOURCES = 1, /* that are compiled */
    KERNELS = 2, /* of all of them */
    PLANS = 1, /* of which a call runs one */
    MOST_KERNELS = 2, /* of a plan */
    MOST_ARGUMENTS = 2,
    MOST_NUMBERS = 0
};

/* arrays of no elements are no C */
#define PLACES(n) ((n) > 0 ? (n) : 1)

/* OpenCL C */
static const char *const SOURCE_0[] = {
    "kernel __attribute__((reqd_work_group_size(16, 1, 1)))\n",
    "void k0(const global float* restrict x, global float* restrict tmp0) {\n",
    "  const long g0 = get_global_id(0);\n",
    "  // mapGlobal0 over 100\n",
    "  if (g0 < 100) {\n",
    "    tmp0[g0] = -x[g0];\n",
    "  }\n",
    "}\n",
    "\n",
    "kernel __attribute__((reqd_work_group_size(16, 1, 1)))\n",
    "void k1(const global float* restrict tmp0, global float* restrict out) {\n",
    "  const long g0 = get_global_id(0);\n",
    "  // mapGlobal0 over 100\n",
    "  if (g0 < 100) {\n",
    "    out[g0] = 2.0f * tmp0[g0];\n",
    "  }\n",
    "}\n"
};
static const char OPTIONS[] = "-w";

/* of each source: its lines, its kernels */
static const struct {
    const char *const *lines;
    cl_uint count;
    int first_kernel, kernels;
} SOURCE[] = {
    {SOURCE_0, sizeof SOURCE_0 / sizeof *SOURCE_0, 0, 2}
};

/* of each input and output: what it is called, how many elements, bytes of one */
static const struct {
    const char *name, *elements;
    size_t size;
} ARRAY[] = {
    {"x", "", 4},
    {"out", "", 4}
};

/* what constant buffers hold, and the bytes of that */
static const struct {
    size_t bytes;
    const void *data;
} CONSTANT[] = {
    {0, NULL}
};

/* of each kernel: name, numbers of buffers and dimensions, work-items in a group, bytes of local memory; how many
 * numbers it is given behind its buffers, and the bytes of each */
static const struct {
    const char *name;
    cl_uint arguments, dimensions;
    size_t local[3], local_bytes;
    int count;
    unsigned char numbers[PLACES(MOST_NUMBERS)];
} KERNEL[] = {
    {"k0", 2, 1, {16, 1, 1}, 0, 0, {0}},
    {"k1", 2, 1, {16, 1, 1}, 0, 0, {0}}
};

/* of each length: what it is called, its range, how far apart lengths are, what a message says of that */
static const struct {
    const char *name;
    cl_ulong least, most, multiple;
    const char *said;
} LENGTH[] = {
    {"", 0, 0, 1, ""}
};

/* the lengths that plans were chosen for */
static const cl_long CHOICE[][PLACES(LENGTHS)] = {
    {0}
};

/* launches in order: a kernel of the plan, and the buffer for each of its arguments, or, from BUFFERS on,
 * a number */
static const unsigned short STEP[][1 + MOST_ARGUMENTS] = {
    {0, 0, 2},
    {1, 2, 1}
};

/* what the lengths of a call say: elements of inputs and outputs; the plan, its temporaries' bytes, and for each of its
 * kernels the work-items and numbers */
struct sizes {
    cl_long lengths[PLACES(LENGTHS)];
    size_t elements[INPUTS + OUTPUTS];
    int plan;
    size_t own[PLACES(TEMPORARIES)];
    size_t global[PLACES(MOST_KERNELS)][3];
    cl_long numbers[PLACES(MOST_KERNELS)][PLACES(MOST_NUMBERS)];
};

static void count_elements(struct sizes *s)
{
    (void)s;
    s->elements[0] = (size_t)100;
    s->elements[1] = (size_t)100;
}

static int fits_0(const struct sizes *s)
{
    (void)s;
    return 1;
}

static void size_0(struct sizes *s)
{
    (void)s;
    s->own[0] = (size_t)400;
    s->global[0][0] = (size_t)112;
    s->global[0][1] = (size_t)1;
    s->global[0][2] = (size_t)1;
    s->global[1][0] = (size_t)112;
    s->global[1][1] = (size_t)1;
    s->global[1][2] = (size_t)1;
}

/* of each plan: its source, which of CHOICE it was chosen for (-1: none), its first launch and their number; is it
 * right for these lengths, and what its sizes are */
static const struct {
    int source, choice, first_step, steps;
    int (*fits)(const struct sizes *);
    void (*size)(struct sizes *);
} PLAN[] = {
    {0, 0, 0, 2, fits_0, size_0}
};

struct two_kernels_handle {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    cl_program programs[PLACES(SOURCES)]; /* NULL: not compiled yet */
    cl_kernel kernels[PLACES(KERNELS)];
    cl_mem own[PLACES(OWN)];
    size_t own_bytes[PLACES(OWN)];
    cl_event last; /* of the last command that uses them */
    char *message;
};

static int fail(two_kernels_handle *self, int code, const char *format, ...)
{
    va_list arguments;
    int size;
    free(self->message);
    va_start(arguments, format);
    size = vsnprintf(NULL, 0, format, arguments) + 1;
    va_end(arguments);
    self->message = malloc((size_t)size);
    if (self->message != NULL) {
        va_start(arguments, format);
        vsnprintf(self->message, (size_t)size, format, arguments);
        va_end(arguments);
    }
    return code;
}

/* OpenCL's answer to what it was asked for */
static int answer(two_kernels_handle *self, cl_int status, const char *asked)
{
    if (status == CL_SUCCESS)
        return TWO_KERNELS_OK;
    if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES || status == CL_OUT_OF_HOST_MEMORY)
        return fail(self, TWO_KERNELS_NO_MEMORY, "%s: no room (OpenCL's code %d)", asked, (int)status);
    return fail(self, TWO_KERNELS_OPENCL_ERROR, "%s: OpenCL's code %d", asked, (int)status);
}

/* ---- the device ---- */

static int contains(const char *text, const char *part)
{
    for (; *text != 0; text++) {
        size_t k = 0;
        while (part[k] != 0 && tolower((unsigned char)text[k]) == tolower((unsigned char)part[k]))
            k++;
        if (part[k] == 0)
            return 1;
    }
    return *part == 0;
}

static int is_named(cl_platform_id platform, cl_device_id device, const char *name)
{
    char own[512] = "", maker[512] = "";
    if (name == NULL)
        return 1;
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof own - 1, own, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof maker - 1, maker, NULL);
    return contains(own, name) || contains(maker, name);
}

/* the first GPU of that type and name, else the first device */
static cl_device_id pick(cl_device_type type, const char *name)
{
    cl_platform_id platforms[32];
    cl_device_id devices[64], found = NULL;
    cl_uint p, d, platform_count = 0, count;
    if (clGetPlatformIDs(32, platforms, &platform_count) != CL_SUCCESS)
        return NULL;
    for (p = 0; p < platform_count && p < 32; p++) {
        if (clGetDeviceIDs(platforms[p], type != 0 ? type : CL_DEVICE_TYPE_ALL, 64, devices, &count) != CL_SUCCESS)
            continue;
        for (d = 0; d < count && d < 64; d++) {
            cl_device_type kind = 0;
            if (!is_named(platforms[p], devices[d], name))
                continue;
            clGetDeviceInfo(devices[d], CL_DEVICE_TYPE, sizeof kind, &kind, NULL);
            if ((kind & CL_DEVICE_TYPE_GPU) != 0)
                return devices[d];
            if (found == NULL)
                found = devices[d];
        }
    }
    return found;
}

static int opened(two_kernels_handle *self, const two_kernels_choice *choice)
{
    cl_int status = CL_SUCCESS;
    if (choice->context != NULL) {
        self->device = choice->device;
        if (self->device == NULL) {
            cl_device_id devices[64];
            status = clGetContextInfo(choice->context, CL_CONTEXT_DEVICES, sizeof devices, devices, NULL);
            if (status != CL_SUCCESS)
                return answer(self, status, "the context's devices");
            self->device = devices[0];
        }
        status = clRetainContext(choice->context);
        if (status == CL_SUCCESS)
            self->context = choice->context;
    } else {
        self->device = pick(choice->type, choice->name);
        if (self->device == NULL)
            return fail(self, TWO_KERNELS_NO_DEVICE, choice->type == 0 && choice->name == NULL
                ? "there is no OpenCL device" : "no OpenCL device of type 0x%lx (0: any) is named like '%s'",
                (unsigned long)choice->type, choice->name != NULL ? choice->name : "");
        self->context = clCreateContext(NULL, 1, &self->device, NULL, NULL, &status);
    }
    if (status == CL_SUCCESS)
        self->queue = clCreateCommandQueue(self->context, self->device, 0, &status);
    return answer(self, status, "a context and a queue");
}

/* does the device allow the kernels of a source? */
static int admit(two_kernels_handle *self, int source)
{
    const int first = SOURCE[source].first_kernel, end = first + SOURCE[source].kernels;
    size_t items = 0;
    cl_ulong memory = 0;
    int k;
    clGetDeviceInfo(self->device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof items, &items, NULL);
    clGetDeviceInfo(self->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof memory, &memory, NULL);
    for (k = first; k < end; k++) {
        size_t group = KERNEL[k].local[0] * KERNEL[k].local[1] * KERNEL[k].local[2];
        if (group > items)
            return fail(self, TWO_KERNELS_UNSUITABLE, "%s has groups of %lu work-items, the device allows %lu",
                KERNEL[k].name, (unsigned long)group, (unsigned long)items);
        if (KERNEL[k].local_bytes > memory)
            return fail(self, TWO_KERNELS_UNSUITABLE, "%s takes %lu bytes of local memory, the device has %lu",
                KERNEL[k].name, (unsigned long)KERNEL[k].local_bytes, (unsigned long)memory);
    }
    return TWO_KERNELS_OK;
}

/* ---- compiling ---- */

static int refused(two_kernels_handle *self, cl_program program, cl_int status)
{
    size_t size = 0;
    char *log;
    int result;
    clGetProgramBuildInfo(program, self->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    log = calloc(size + 1, 1);
    if (log != NULL)
        clGetProgramBuildInfo(program, self->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    result = fail(self, TWO_KERNELS_NOT_BUILT, "the kernels were not built (OpenCL's code %d):\n%s", (int)status,
        log != NULL ? log : "");
    free(log);
    return result;
}

/* compiles a source, unless it is compiled already */
static int build(two_kernels_handle *self, int source)
{
    const int first = SOURCE[source].first_kernel, end = first + SOURCE[source].kernels;
    cl_program program;
    cl_int status;
    int k, result;
    if (first == end || self->programs[source] != NULL)
        return TWO_KERNELS_OK;
    result = admit(self, source);
    if (result != TWO_KERNELS_OK)
        return result;
    program = clCreateProgramWithSource(self->context, SOURCE[source].count, (const char **)SOURCE[source].lines, NULL,
        &status);
    if (status != CL_SUCCESS)
        return answer(self, status, "a program");
    status = clBuildProgram(program, 1, &self->device, OPTIONS, NULL, NULL);
    if (status != CL_SUCCESS)
        result = refused(self, program, status);
    for (k = first; k < end && result == TWO_KERNELS_OK; k++) {
        self->kernels[k] = clCreateKernel(program, KERNEL[k].name, &status);
        result = answer(self, status, KERNEL[k].name);
    }
    if (result == TWO_KERNELS_OK)
        self->programs[source] = program;
    else
        clReleaseProgram(program);
    return result;
}

static int allocate(two_kernels_handle *self, cl_mem_flags flags, size_t bytes, const void *data, cl_mem *made)
{
    cl_int status;
    if (bytes > 0 && data != NULL)
        *made = clCreateBuffer(self->context, flags | CL_MEM_COPY_HOST_PTR, bytes, (void *)data, &status);
    else /* OpenCL has no empty buffers */
        *made = clCreateBuffer(self->context, flags, bytes > 0 ? bytes : 1, NULL, &status);
    return answer(self, status, "a buffer");
}

/* room for what is between the kernels; what is given up so is freed when the commands that use it are done */
static int grow(two_kernels_handle *self, const struct sizes *s)
{
    int t, result = TWO_KERNELS_OK;
    for (t = 0; t < TEMPORARIES && result == TWO_KERNELS_OK; t++) {
        if (self->own[t] != NULL && self->own_bytes[t] >= s->own[t])
            continue;
        if (self->own[t] != NULL)
            clReleaseMemObject(self->own[t]);
        self->own[t] = NULL;
        self->own_bytes[t] = s->own[t];
        result = allocate(self, CL_MEM_READ_WRITE, s->own[t], NULL, &self->own[t]);
    }
    return result;
}

/* ---- lengths ---- */

/* their ranges, and how many elements arrays have for them */
static int measure(two_kernels_handle *self, const cl_ulong *lengths, struct sizes *s)
{
    int l;
    memset(s, 0, sizeof *s);
    for (l = 0; l < LENGTHS; l++) {
        if (lengths[l] < LENGTH[l].least || lengths[l] > LENGTH[l].most || lengths[l] % LENGTH[l].multiple != 0)
            return fail(self, TWO_KERNELS_WRONG_LENGTH, "%s is %llu; it may be %s", LENGTH[l].name,
                (unsigned long long)lengths[l], LENGTH[l].said);
        s->lengths[l] = (cl_long)lengths[l];
    }
    count_elements(s);
    return TWO_KERNELS_OK;
}

/* "n is 3, m is 4" */
static const char *said(const struct sizes *s, char *text, size_t size)
{
    size_t used = 0;
    int l;
    for (l = 0; l < LENGTHS && used < size; l++)
        used += (size_t)snprintf(text + used, size - used, "%s%s is %lld", l > 0 ? ", " : "", LENGTH[l].name,
            (long long)s->lengths[l]);
    return text;
}

/* an array of another length, or a buffer of fewer bytes */
static int disagrees(two_kernels_handle *self, const struct sizes *s, int i, const char *form, size_t has, size_t wanted)
{
    char start[400], text[800] = "";
    snprintf(start, sizeof start, form, ARRAY[i].name, (unsigned long)has, (unsigned long)wanted);
    if (*ARRAY[i].elements == 0)
        return fail(self, TWO_KERNELS_WRONG_LENGTH, "%s", start);
    return fail(self, TWO_KERNELS_WRONG_LENGTH, "%s: it has %s elements, where %s; give lengths and arrays that agree",
        start, ARRAY[i].elements, said(s, text, sizeof text));
}

/* how far lengths are from those of a choice, as a factor */
static double distance(const struct sizes *s, int choice)
{
    double found = 1;
    int l;
    for (l = 0; l < LENGTHS; l++) {
        const double a = s->lengths[l] > 1 ? (double)s->lengths[l] : 1;
        const double b = CHOICE[choice][l] > 1 ? (double)CHOICE[choice][l] : 1;
        found *= a > b ? a / b : b / a;
    }
    return found;
}

/* the plan for the lengths of a call: of those that are right the one that was chosen for the nearest lengths */
static int choose(two_kernels_handle *self, struct sizes *s)
{
    char text[800] = "";
    double best = 0;
    int i;
    s->plan = -1;
    for (i = 0; i < PLANS; i++) {
        const double far = PLAN[i].choice < 0 ? -1 : distance(s, PLAN[i].choice);
        if (s->plan >= 0 && (far < 0 || far >= best))
            continue;
        if (PLAN[i].fits(s)) {
            s->plan = i;
            best = far;
        }
    }
    if (s->plan < 0)
        return fail(self, TWO_KERNELS_WRONG_LENGTH, "no kernel that was exported is for these lengths: %s; export those of "
            "kernel.specialise for them", said(s, text, sizeof text));
    PLAN[s->plan].size(s);
    return TWO_KERNELS_OK;
}

/* the plan for the lengths of a call, compiled, and its memory */
static int prepare(two_kernels_handle *self, struct sizes *s)
{
    int result = choose(self, s);
    if (result == TWO_KERNELS_OK)
        result = build(self, PLAN[s->plan].source);
    if (result == TWO_KERNELS_OK)
        result = grow(self, s);
    return result;
}

int two_kernels_init(two_kernels_handle **made, const two_kernels_choice *choice)
{
    static const two_kernels_choice ANY = {0, NULL, NULL, NULL};
    two_kernels_handle *self = calloc(1, sizeof *self);
    struct sizes s;
    int c, result;
    *made = self;
    if (self == NULL)
        return TWO_KERNELS_NO_MEMORY;
    result = opened(self, choice != NULL ? choice : &ANY);
    if (result == TWO_KERNELS_OK)
        result = build(self, 0);
    if (result == TWO_KERNELS_OK && LENGTHS == 0) { /* else calls say what they need */
        measure(self, NULL, &s);
        result = prepare(self, &s);
    }
    for (c = 0; TEMPORARIES + c < OWN && result == TWO_KERNELS_OK; c++)
        result = allocate(self, CL_MEM_READ_WRITE, CONSTANT[c].bytes, CONSTANT[c].data, &self->own[TEMPORARIES + c]);
    return result;
}

void two_kernels_release(two_kernels_handle *self)
{
    int i;
    if (self == NULL)
        return;
    if (self->queue != NULL)
        clFinish(self->queue);
    if (self->last != NULL)
        clReleaseEvent(self->last);
    for (i = 0; i < OWN; i++)
        if (self->own[i] != NULL)
            clReleaseMemObject(self->own[i]);
    for (i = 0; i < KERNELS; i++)
        if (self->kernels[i] != NULL)
            clReleaseKernel(self->kernels[i]);
    for (i = 0; i < SOURCES; i++)
        if (self->programs[i] != NULL)
            clReleaseProgram(self->programs[i]);
    if (self->queue != NULL)
        clReleaseCommandQueue(self->queue);
    if (self->context != NULL)
        clReleaseContext(self->context);
    free(self->message);
    free(self);
}

const char *two_kernels_message(const two_kernels_handle *self)
{
    return self != NULL && self->message != NULL ? self->message : self == NULL ? "no room for a handle" : "";
}

cl_context two_kernels_context(const two_kernels_handle *self) { return self->context; }

cl_device_id two_kernels_device(const two_kernels_handle *self) { return self->device; }

int two_kernels_finish(two_kernels_handle *self) { return answer(self, clFinish(self->queue), "the queue's end"); }

/* ---- launching ---- */

static int launch(two_kernels_handle *self, cl_command_queue queue, const struct sizes *s, int step, const cl_mem *buffers,
    cl_uint waits, const cl_event *wait_list, cl_event *event)
{
    const int of_plan = STEP[step][0], k = SOURCE[PLAN[s->plan].source].first_kernel + of_plan;
    cl_uint a;
    int n;
    cl_int status = CL_SUCCESS;
    for (a = 0; a < KERNEL[k].arguments && status == CL_SUCCESS; a++) {
        const int b = STEP[step][1 + a];
        const cl_int number = b - BUFFERS;
        status = b < BUFFERS ? clSetKernelArg(self->kernels[k], a, sizeof(cl_mem), &buffers[b])
                             : clSetKernelArg(self->kernels[k], a, sizeof number, &number);
    }
    for (n = 0; n < KERNEL[k].count && status == CL_SUCCESS; n++, a++) {
        const cl_long wide = s->numbers[of_plan][n];
        const cl_int narrow = (cl_int)wide;
        const int is_wide = KERNEL[k].numbers[n] == sizeof wide;
        status = clSetKernelArg(self->kernels[k], a, is_wide ? sizeof wide : sizeof narrow,
            is_wide ? (const void *)&wide : (const void *)&narrow);
    }
    if (status == CL_SUCCESS)
        status = clEnqueueNDRangeKernel(queue, self->kernels[k], KERNEL[k].dimensions, NULL, s->global[of_plan],
            KERNEL[k].local, waits, waits > 0 ? wait_list : NULL, event);
    return answer(self, status, KERNEL[k].name);
}

/* OpenCL 1.2 has no launches of no work-items */
static int is_empty(const struct sizes *s, int step)
{
    const size_t *global = s->global[STEP[step][0]];
    return global[0] == 0 || global[1] == 0 || global[2] == 0;
}

/* all launches, each after the one before it; *done: the event of the last one, the caller's */
static int launch_all(two_kernels_handle *self, cl_command_queue queue, const struct sizes *s, const cl_mem *given,
    cl_uint waits, const cl_event *wait_list, cl_event *done)
{
    cl_mem buffers[BUFFERS];
    cl_event after[2] = {NULL, NULL}; /* what was before, and what the caller waits for */
    cl_uint count = 0;
    const int first = PLAN[s->plan].first_step, end = first + PLAN[s->plan].steps;
    int i, launches = 0, result = TWO_KERNELS_OK;
    for (i = first; i < end; i++)
        launches += !is_empty(s, i);
    for (i = 0; i < INPUTS + OUTPUTS; i++)
        buffers[i] = given[i];
    for (i = 0; i < OWN; i++)
        buffers[INPUTS + OUTPUTS + i] = self->own[i];
    if (self->last != NULL)
        after[count++] = self->last;
    self->last = NULL;
    if (waits > 0 || (count == 0 && launches == 0)) {
        result = answer(self, clEnqueueMarkerWithWaitList(queue, waits, wait_list, &after[count]), "a marker");
        if (result == TWO_KERNELS_OK)
            count++;
    }
    for (i = first; i < end && result == TWO_KERNELS_OK; i++) {
        cl_event event = NULL;
        if (is_empty(s, i))
            continue;
        result = launch(self, queue, s, i, buffers, count, after, &event);
        if (result != TWO_KERNELS_OK)
            break;
        while (count > 0)
            clReleaseEvent(after[--count]);
        after[count++] = event;
    }
    if (result == TWO_KERNELS_OK)
        result = answer(self, clFlush(queue), "the queue");
    if (result == TWO_KERNELS_OK && done != NULL && count > 0) {
        clRetainEvent(after[count - 1]);
        *done = after[count - 1];
    }
    if (count > 0)
        self->last = after[--count];
    while (count > 0)
        clReleaseEvent(after[--count]);
    return result;
}

static int check_queue(two_kernels_handle *self, cl_command_queue queue)
{
    cl_context context = NULL;
    cl_device_id device = NULL;
    clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    if (context != self->context || device != self->device)
        return fail(self, TWO_KERNELS_WRONG_QUEUE, "the queue is of another context or device than the handle");
    return TWO_KERNELS_OK;
}

/* where a buffer is: the one that it is a part of, and its first byte there */
static cl_mem place(cl_mem buffer, size_t *start)
{
    cl_mem whole = NULL;
    *start = 0;
    clGetMemObjectInfo(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL);
    clGetMemObjectInfo(buffer, CL_MEM_OFFSET, sizeof *start, start, NULL);
    return whole != NULL ? whole : buffer;
}

static int check_buffers(two_kernels_handle *self, const struct sizes *s, const cl_mem *given)
{
    int i, o;
    for (i = 0; i < INPUTS + OUTPUTS; i++) {
        size_t bytes = 0, wanted = s->elements[i] * ARRAY[i].size;
        cl_int status = clGetMemObjectInfo(given[i], CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
        if (status != CL_SUCCESS)
            return answer(self, status, ARRAY[i].name);
        if (bytes / ARRAY[i].size < s->elements[i])
            return disagrees(self, s, i, "buffer %s has %lu bytes, %lu are wanted", bytes, wanted);
    }
    for (o = INPUTS; o < INPUTS + OUTPUTS; o++) {
        for (i = 0; i < INPUTS + OUTPUTS; i++) {
            size_t first, other;
            if (i == o || place(given[i], &first) != place(given[o], &other))
                continue;
            if (first < other + s->elements[o] * ARRAY[o].size && other < first + s->elements[i] * ARRAY[i].size)
                return fail(self, TWO_KERNELS_OVERLAP, "%s shares memory with %s, which is written", ARRAY[i].name,
                    ARRAY[o].name);
        }
    }
    return TWO_KERNELS_OK;
}

static int enqueue(two_kernels_handle *self, cl_command_queue queue, const cl_ulong *lengths, const cl_mem *given,
    cl_uint waits, const cl_event *wait_list, cl_event *event)
{
    struct sizes s;
    int result = TWO_KERNELS_OK;
    if (queue == NULL)
        queue = self->queue;
    else
        result = check_queue(self, queue);
    if (result == TWO_KERNELS_OK)
        result = measure(self, lengths, &s);
    if (result == TWO_KERNELS_OK)
        result = check_buffers(self, &s, given);
    if (result == TWO_KERNELS_OK)
        result = prepare(self, &s);
    if (result == TWO_KERNELS_OK)
        result = launch_all(self, queue, &s, given, waits, wait_list, event);
    return result;
}

/* ---- arrays of the host ---- */

static int check_lengths(two_kernels_handle *self, const struct sizes *s, const void *const *inputs, void *const *outputs,
    const size_t *lengths)
{
    int i;
    for (i = 0; i < INPUTS + OUTPUTS; i++) {
        const void *array = i < INPUTS ? inputs[i] : outputs[i - INPUTS];
        if (lengths[i] != s->elements[i])
            return disagrees(self, s, i, "%s has %lu elements, %lu are wanted", lengths[i], s->elements[i]);
        if (array == NULL && lengths[i] > 0)
            return fail(self, TWO_KERNELS_WRONG_LENGTH, "%s is NULL", ARRAY[i].name);
    }
    return TWO_KERNELS_OK;
}

static int run(two_kernels_handle *self, const cl_ulong *given, const void *const *inputs, void *const *outputs,
    const size_t *lengths)
{
    cl_mem buffers[INPUTS + OUTPUTS] = {NULL};
    struct sizes s;
    int i, result = measure(self, given, &s);
    if (result == TWO_KERNELS_OK)
        result = check_lengths(self, &s, inputs, outputs, lengths);
    if (result == TWO_KERNELS_OK)
        result = prepare(self, &s);
    for (i = 0; i < INPUTS + OUTPUTS && result == TWO_KERNELS_OK; i++)
        result = allocate(self, i < INPUTS ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE, s.elements[i] * ARRAY[i].size,
            i < INPUTS ? inputs[i] : NULL, &buffers[i]);
    if (result == TWO_KERNELS_OK)
        result = launch_all(self, self->queue, &s, buffers, 0, NULL, NULL);
    for (i = INPUTS; i < INPUTS + OUTPUTS && result == TWO_KERNELS_OK; i++)
        if (s.elements[i] > 0)
            result = answer(self, clEnqueueReadBuffer(self->queue, buffers[i], CL_TRUE, 0,
                s.elements[i] * ARRAY[i].size, outputs[i - INPUTS], 0, NULL, NULL), ARRAY[i].name);
    for (i = 0; i < INPUTS + OUTPUTS; i++)
        if (buffers[i] != NULL)
            clReleaseMemObject(buffers[i]);
    return result;
}

int two_kernels_run(two_kernels_handle *self,
    const float *x, size_t x_length,
    float *out, size_t out_length)
{
    const cl_ulong given_lengths[] = {0};
    const void *const inputs[] = {x};
    void *const outputs[] = {out};
    const size_t lengths[] = {x_length, out_length};
    return run(self, given_lengths, inputs, outputs, lengths);
}

int two_kernels_enqueue(two_kernels_handle *self, cl_command_queue queue, cl_mem x, cl_mem out,
    cl_uint waits, const cl_event *wait_list, cl_event *event)
{
    const cl_ulong given_lengths[] = {0};
    const cl_mem given[] = {x, out};
    return enqueue(self, queue, given_lengths, given, waits, wait_list, event);
}

int two_kernels_run_once(const two_kernels_choice *choice,
    const float *x, size_t x_length,
    float *out, size_t out_length, char *message, size_t size)
{
    two_kernels_handle *self;
    int result = two_kernels_init(&self, choice);
    if (result == TWO_KERNELS_OK)
        result = two_kernels_run(self, x, x_length, out, out_length);
    if (message != NULL && size > 0)
        snprintf(message, size, "%s", result == TWO_KERNELS_OK ? "" : two_kernels_message(self));
    two_kernels_release(self);
    return result;
}

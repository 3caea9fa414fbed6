"""What every exported program in C does with its tables: opens a device, builds, launches."""

from __future__ import annotations

from string import Template

RUNTIME = Template("""
struct ${name}_handle {
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

static int fail(${name}_handle *self, int code, const char *format, ...)
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
static int answer(${name}_handle *self, cl_int status, const char *asked)
{
    if (status == CL_SUCCESS)
        return ${NAME}_OK;
    if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES || status == CL_OUT_OF_HOST_MEMORY)
        return fail(self, ${NAME}_NO_MEMORY, "%s: no room (OpenCL's code %d)", asked, (int)status);
    return fail(self, ${NAME}_OPENCL_ERROR, "%s: OpenCL's code %d", asked, (int)status);
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

static int opened(${name}_handle *self, const ${name}_choice *choice)
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
            return fail(self, ${NAME}_NO_DEVICE, choice->type == 0 && choice->name == NULL
                ? "there is no OpenCL device" : "no OpenCL device of type 0x%lx (0: any) is named like '%s'",
                (unsigned long)choice->type, choice->name != NULL ? choice->name : "");
        self->context = clCreateContext(NULL, 1, &self->device, NULL, NULL, &status);
    }
    if (status == CL_SUCCESS)
        self->queue = clCreateCommandQueue(self->context, self->device, 0, &status);
    return answer(self, status, "a context and a queue");
}

/* does the device allow the kernels of a source? */
static int admit(${name}_handle *self, int source)
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
            return fail(self, ${NAME}_UNSUITABLE, "%s has groups of %lu work-items, the device allows %lu",
                KERNEL[k].name, (unsigned long)group, (unsigned long)items);
        if (KERNEL[k].local_bytes > $memory)
            return fail(self, ${NAME}_UNSUITABLE, "%s takes %lu bytes of local memory, the device has %lu",
                KERNEL[k].name, (unsigned long)KERNEL[k].local_bytes, (unsigned long)memory);
    }
    return ${NAME}_OK;
}

/* ---- compiling ---- */

static int refused(${name}_handle *self, cl_program program, cl_int status)
{
    size_t size = 0;
    char *log;
    int result;
    clGetProgramBuildInfo(program, self->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    log = calloc(size + 1, 1);
    if (log != NULL)
        clGetProgramBuildInfo(program, self->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    result = fail(self, ${NAME}_NOT_BUILT, "the kernels were not built (OpenCL's code %d):\\n%s", (int)status,
        log != NULL ? log : "");
    free(log);
    return result;
}
${build_again}
/* compiles a source, unless it is compiled already */
static int build(${name}_handle *self, int source)
{
    const int first = SOURCE[source].first_kernel, end = first + SOURCE[source].kernels;
    cl_program program;
    cl_int status;
    int k, result;
    if (first == end || self->programs[source] != NULL)
        return ${NAME}_OK;
    result = admit(self, source);
    if (result != ${NAME}_OK)
        return result;
    program = clCreateProgramWithSource(self->context, SOURCE[source].count, (const char **)SOURCE[source].lines, NULL,
        &status);
    if (status != CL_SUCCESS)
        return answer(self, status, "a program");
    status = clBuildProgram(program, 1, &self->device, OPTIONS, NULL, NULL);
    if (status != CL_SUCCESS)
        result = refused(self, program, status);
${built_again}    for (k = first; k < end && result == ${NAME}_OK; k++) {
        self->kernels[k] = clCreateKernel(program, KERNEL[k].name, &status);
        result = answer(self, status, KERNEL[k].name);
    }
    if (result == ${NAME}_OK)
        self->programs[source] = program;
    else
        clReleaseProgram(program);
    return result;
}

static int allocate(${name}_handle *self, cl_mem_flags flags, size_t bytes, const void *data, cl_mem *made)
{
    cl_int status;
    if (bytes > 0 && data != NULL)
        *made = clCreateBuffer(self->context, flags | CL_MEM_COPY_HOST_PTR, bytes, (void *)data, &status);
    else /* OpenCL has no empty buffers */
        *made = clCreateBuffer(self->context, flags, bytes > 0 ? bytes : 1, NULL, &status);
    return answer(self, status, "a buffer");
}

/* room for what is between the kernels; what is given up so is freed when the commands that use it are done */
static int grow(${name}_handle *self, const struct sizes *s)
{
    int t, result = ${NAME}_OK;
    for (t = 0; t < TEMPORARIES && result == ${NAME}_OK; t++) {
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

$lengths
/* the plan for the lengths of a call, compiled, and its memory */
static int prepare(${name}_handle *self, struct sizes *s)
{
    int result = choose(self, s);
    if (result == ${NAME}_OK)
        result = build(self, PLAN[s->plan].source);
    if (result == ${NAME}_OK)
        result = grow(self, s);
    return result;
}

int ${name}_init(${name}_handle **made, const ${name}_choice *choice)
{
    static const ${name}_choice ANY = {0, NULL, NULL, NULL};
    ${name}_handle *self = calloc(1, sizeof *self);
    struct sizes s;
    int c, result;
    *made = self;
    if (self == NULL)
        return ${NAME}_NO_MEMORY;
    result = opened(self, choice != NULL ? choice : &ANY);
    if (result == ${NAME}_OK)
        result = build(self, 0);
    if (result == ${NAME}_OK && LENGTHS == 0) { /* else calls say what they need */
        measure(self, NULL, &s);
        result = prepare(self, &s);
    }
    for (c = 0; TEMPORARIES + c < OWN && result == ${NAME}_OK; c++)
        result = allocate(self, CL_MEM_READ_WRITE, CONSTANT[c].bytes, CONSTANT[c].data, &self->own[TEMPORARIES + c]);
    return result;
}

void ${name}_release(${name}_handle *self)
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

const char *${name}_message(const ${name}_handle *self)
{
    return self != NULL && self->message != NULL ? self->message : self == NULL ? "no room for a handle" : "";
}

cl_context ${name}_context(const ${name}_handle *self) { return self->context; }

cl_device_id ${name}_device(const ${name}_handle *self) { return self->device; }

int ${name}_finish(${name}_handle *self) { return answer(self, clFinish(self->queue), "the queue's end"); }

/* ---- launching ---- */

static int launch(${name}_handle *self, cl_command_queue queue, const struct sizes *s, int step, const cl_mem *buffers,
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
static int launch_all(${name}_handle *self, cl_command_queue queue, const struct sizes *s, const cl_mem *given,
    cl_uint waits, const cl_event *wait_list, cl_event *done)
{
    cl_mem buffers[BUFFERS];
    cl_event after[2] = {NULL, NULL}; /* what was before, and what the caller waits for */
    cl_uint count = 0;
    const int first = PLAN[s->plan].first_step, end = first + PLAN[s->plan].steps;
    int i, launches = 0, result = ${NAME}_OK;
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
        if (result == ${NAME}_OK)
            count++;
    }
    for (i = first; i < end && result == ${NAME}_OK; i++) {
        cl_event event = NULL;
        if (is_empty(s, i))
            continue;
        result = launch(self, queue, s, i, buffers, count, after, &event);
        if (result != ${NAME}_OK)
            break;
        while (count > 0)
            clReleaseEvent(after[--count]);
        after[count++] = event;
    }
    if (result == ${NAME}_OK)
        result = answer(self, clFlush(queue), "the queue");
    if (result == ${NAME}_OK && done != NULL && count > 0) {
        clRetainEvent(after[count - 1]);
        *done = after[count - 1];
    }
    if (count > 0)
        self->last = after[--count];
    while (count > 0)
        clReleaseEvent(after[--count]);
    return result;
}

static int check_queue(${name}_handle *self, cl_command_queue queue)
{
    cl_context context = NULL;
    cl_device_id device = NULL;
    clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    if (context != self->context || device != self->device)
        return fail(self, ${NAME}_WRONG_QUEUE, "the queue is of another context or device than the handle");
    return ${NAME}_OK;
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

static int check_buffers(${name}_handle *self, const struct sizes *s, const cl_mem *given)
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
                return fail(self, ${NAME}_OVERLAP, "%s shares memory with %s, which is written", ARRAY[i].name,
                    ARRAY[o].name);
        }
    }
    return ${NAME}_OK;
}

static int enqueue(${name}_handle *self, cl_command_queue queue, const cl_ulong *lengths, const cl_mem *given,
    cl_uint waits, const cl_event *wait_list, cl_event *event)
{
    struct sizes s;
    int result = ${NAME}_OK;
    if (queue == NULL)
        queue = self->queue;
    else
        result = check_queue(self, queue);
    if (result == ${NAME}_OK)
        result = measure(self, lengths, &s);
    if (result == ${NAME}_OK)
        result = check_buffers(self, &s, given);
    if (result == ${NAME}_OK)
        result = prepare(self, &s);
    if (result == ${NAME}_OK)
        result = launch_all(self, queue, &s, given, waits, wait_list, event);
    return result;
}

/* ---- arrays of the host ---- */

static int check_lengths(${name}_handle *self, const struct sizes *s, const void *const *inputs, void *const *outputs,
    const size_t *lengths)
{
    int i;
    for (i = 0; i < INPUTS + OUTPUTS; i++) {
        const void *array = i < INPUTS ? inputs[i] : outputs[i - INPUTS];
        if (lengths[i] != s->elements[i])
            return disagrees(self, s, i, "%s has %lu elements, %lu are wanted", lengths[i], s->elements[i]);
        if (array == NULL && lengths[i] > 0)
            return fail(self, ${NAME}_WRONG_LENGTH, "%s is NULL", ARRAY[i].name);
    }
    return ${NAME}_OK;
}

static int run(${name}_handle *self, const cl_ulong *given, const void *const *inputs, void *const *outputs,
    const size_t *lengths)
{
    cl_mem buffers[INPUTS + OUTPUTS] = {NULL};
    struct sizes s;
    int i, result = measure(self, given, &s);
    if (result == ${NAME}_OK)
        result = check_lengths(self, &s, inputs, outputs, lengths);
    if (result == ${NAME}_OK)
        result = prepare(self, &s);
    for (i = 0; i < INPUTS + OUTPUTS && result == ${NAME}_OK; i++)
        result = allocate(self, i < INPUTS ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE, s.elements[i] * ARRAY[i].size,
            i < INPUTS ? inputs[i] : NULL, &buffers[i]);
    if (result == ${NAME}_OK)
        result = launch_all(self, self->queue, &s, buffers, 0, NULL, NULL);
    for (i = INPUTS; i < INPUTS + OUTPUTS && result == ${NAME}_OK; i++)
        if (s.elements[i] > 0)
            result = answer(self, clEnqueueReadBuffer(self->queue, buffers[i], CL_TRUE, 0,
                s.elements[i] * ARRAY[i].size, outputs[i - INPUTS], 0, NULL, NULL), ARRAY[i].name);
    for (i = 0; i < INPUTS + OUTPUTS; i++)
        if (buffers[i] != NULL)
            clReleaseMemObject(buffers[i]);
    return result;
}
""")

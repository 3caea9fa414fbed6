"""Names of torch, JAX and SciPy that egglift does not have: what to write instead.

Where it is a name that egglift nearly has (relu and real), the nearest spelling would mislead.
"""

from __future__ import annotations

from egglift.ir.absent_names import ABSENT

_TYPES = {
    "bool_": "bool",
    "i8": "int8 char",
    "i16": "int16 short",
    "i32": "int32 int",
    "i64": "int64 long int_",
    "u8": "uint8 byte",
    "u16": "uint16",
    "u32": "uint32 uint",
    "u64": "uint64",
    "f16": "float16 half",
    "bf16": "bfloat16",
    "f32": "float32 float single",
    "f64": "float64 double float_",
    "c64": "complex64 cfloat",
    "c128": "complex128 cdouble complex",
}
#: types by the names that others have for them
TYPES = {name: own for own, names in _TYPES.items() for name in names.split()}

_GRADIENT = "there are no derivatives: write the program that computes them"
_CALL = "values have numbers when a kernel is called: el.optimize(program)(x=array), or el.interpret(program, x=array)"
_ROOM = "names stand in egglift itself: el.exp(x), el.where(c, a, b); docs/numpy.md"
_RANDOM = "random numbers are inputs of a program: el.array(name, type, shape)"
_LEAVE = "leave it out"
_LOOP = "el.iterate(n, f, x) of a fixed number of steps, with el.where(done, x, step(x))"
_CHOICE = "el.where(condition, a, b), of which both are evaluated"
_GROUPS = "el.bincount(k, n, weights=x), sums by group; docs/tasks.md has more"
_WINDOWS = (
    "el.slide(size, step, x), or el.sliding_window_view(x, shape, axis), and .max(axis) or .mean(axis) of windows"
)
_NORMED = "(x - x.mean(axis=-1, keepdims=True)) / el.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)"
_SORTED = str(ABSENT["sort"])
_MAP = "el.map(f, x), over the first axis"

_ALIKE = {
    _GRADIENT: "grad value_and_grad backward jacobian jacfwd jacrev hessian vjp jvp requires_grad requires_grad_ "
    "custom_vjp custom_jvp autograd",
    _CALL: "numpy cpu cuda device_get device_put block_until_ready data_ptr",
    _ROOM: "nn jnp lax functional linalg special stats scipy ops F",
    _RANDOM: "rand randn randint randperm normal uniform bernoulli manual_seed PRNGKey key multinomial",
    _LEAVE + ": values of a program have no memory": "contiguous detach clone no_grad stop_gradient is_contiguous",
    _LEAVE: "checkpoint remat",
    _LOOP: "fori_loop while_loop",
    _CHOICE: "cond switch select_n masked_fill ",
    _GROUPS: "segment_sum scatter scatter_add index_add scatter_reduce ",
    _WINDOWS: "max_pool1d max_pool2d avg_pool1d avg_pool2d reduce_window unfold",
    _NORMED: "layer_norm group_norm instance_norm batch_norm normalize standardize",
    _SORTED: "topk top_k kthvalue msort ",
    _MAP: "vmap pmap xmap ",
    "el.array(name, type, shape) is an input, el.literal(numbers) a constant": "tensor Tensor as_tensor from_numpy "
    "placeholder constant Buffer ndarray",
    "x @ y, el.matmul(x, y)": "mm bmm mv matmul dot_general",
    "x.reshape(shape); bits are not read as another type, x.cast(type) converts": "view view_as reshape_as "
    "bitcast_convert_type",
    "x[:, None], or el.expand_dims(x, axis)": "unsqueeze ",
    "el.broadcast_to(x, shape)": "expand expand_as broadcast_in_dim broadcast",
    "el.concatenate((x, y), axis)": "cat hcat vcat",
    "slices, as x[a:b] and x[:, a:b]": "narrow chunk dynamic_slice slice_in_dim index_in_dim dynamic_slice_in_dim",
    "x[indices], el.take_along_axis(x, indices, axis)": "index_select ",
    "values do not change: el.where(condition, new, x), or concatenate slices": "at index_put index_put_ index_fill "
    "dynamic_update_slice index_copy masked_scatter",
    "el.clip(x, least, most)": "clamp clamp_min clamp_max hardtanh",
    "x.cast(type), as x.cast(el.f32)": "to type_as convert_element_type",
    "el.logaddexp(x, 0)": "softplus",
    "el.scan(op, init, x) with an operator, el.associative_scan(f, x)": "cumlogsumexp logcumsumexp ",
    "el.linear_recurrence(a, b): y[i] = a[i] * y[i - 1] + b[i]": "lfilter ewm ema exponential_moving_average",
    "el.optimize(program), or @el.jit": "compile script make_jaxpr xla_computation",
}
#: by name: what to write
FOREIGN = {name: what for what, names in _ALIKE.items() for name in names.split()}
FOREIGN |= {
    "add": "x + y",
    "addmm": "b + x @ y",
    "bitcast": FOREIGN["view"],
    "cdist": "el.sqrt(el.square(x[:, None] - y[None]).sum(axis=-1))",
    "conv1d": "el.convolution1d, el.stencil, or np.convolve of vectors",
    "conv2d": "el.convolution2d, or el.stencil",
    "cosine_similarity": "(x * y).sum(axis=-1) / (el.norm(x, axis=-1) * el.norm(y, axis=-1))",
    "dim": "x.ndim is how many axes it has; the word for one is axis=",
    "div": "x / y",
    "dropout": "x * mask / keep, with the mask as an input",
    "elu": "el.where(x > 0, x, el.expm1(x))",
    "erfc": "1 - el.erf(x)",
    "expit": "1 / (1 + el.exp(-x))",
    "gelu": "0.5 * x * (1 + el.erf(x / math.sqrt(2)))",
    "leaky_relu": "el.where(x > 0, x, 0.01 * x)",
    "lerp": "x + w * (y - x)",
    "linear": "x @ w.T + b",
    "log_softmax": "x - m - el.log(el.exp(x - m).sum(axis=-1, keepdims=True)), with m = x.max(axis=-1, keepdims=True)",
    "logsumexp": "np.logaddexp.reduce(x, axis), or m + el.log(el.exp(x - m).sum(axis)), with m the maximum",
    "mse_loss": "el.square(x - y).mean()",
    "mul": "x * y",
    "neg": "-x",
    "nelement": "x.size",
    "numel": "x.size",
    "one_hot": "k[:, None] == el.arange(n)",
    "permute": "x.transpose(order), or el.permute_dims(x, order)",
    "population_count": "el.bitwise_count(x.astype(el.u32))",
    "rearrange": "x.reshape(shape) and x.transpose(order)",
    "relu": "el.maximum(x, 0)",
    "relu6": "el.clip(x, 0, 6)",
    "repeat_interleave": "el.repeat(x, n, axis)",
    "rms_norm": "x / el.sqrt(el.square(x).mean(axis=-1, keepdims=True) + 1e-5)",
    "sigmoid": "1 / (1 + el.exp(-x))",
    "silu": "x / (1 + el.exp(-x))",
    "softmax": "p / p.sum(axis=-1, keepdims=True), with p = el.exp(x - x.max(axis=-1, keepdims=True))",
    "sub": "x - y",
    "swish": "x / (1 + el.exp(-x))",
    "t": "x.T",
    "unbind": "el.unstack(x)",
}


def instead(name: str, of_value: bool) -> str | None:
    """What to write for a name of another library's; None: this is not one.  of_value: as an attribute of a value."""
    if name in TYPES:
        return f"x.cast(el.{TYPES[name]})" if of_value else f"el.{TYPES[name]} is that type"
    found = FOREIGN.get(name)
    if found is None and name.endswith("_") and (plain := FOREIGN.get(name[:-1])):
        return f"values do not change: {plain} is a new one"
    return found

"""ONNX operators as torch calls: one table, operator to function.

A function gets the node's attributes (Node below) and its input tensors (None where one is absent) and gives a tensor
or a tuple. Those in OUT also take `out`, a tensor that shall hold the result: the last operator before a graph output
then writes where the parent wants it, and nothing is copied.
"""

import torch
import torch.nn.functional as F

OPS = {}
OUT = set()
# The result may overwrite an input of the same shape.
VIEWS = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout", "Transpose", "Slice", "Split", "Expand"}
ELEMENTWISE = {"Add", "Sub", "Mul", "Div", "Sqrt", "Exp", "Log", "Tanh", "Sigmoid", "Abs", "Neg", "Pow", "Relu", "Clip"}


class Node:
    def __init__(self, description, types):
        self.op = description["op"]
        self.inputs = description["inputs"]
        self.outputs = description["outputs"]
        self.attributes = description["attributes"]
        self.shapes = [types.get(name, {}).get("shape") for name in self.outputs]
        self.dtypes = [types.get(name, {}).get("dtype") for name in self.outputs]

    def get(self, name, otherwise=None):
        return self.attributes.get(name, otherwise)


class Step:
    def __init__(self, node, may_write):
        if node.op not in OPS:
            raise NotImplementedError(f"operator {node.op} has no implementation")
        self.node = node
        self.function = OPS[node.op]
        # The result may go straight to the parent's memory.
        self.direct = may_write and node.op in OUT and len(node.outputs) == 1

    def target(self, outputs):
        return outputs.get(self.node.outputs[0]) if self.direct else None

    def run(self, values, target):
        inputs = [values[name] if name else None for name in self.node.inputs]
        if target is not None:
            self.function(self.node, *inputs, out=target)
            values[self.node.outputs[0]] = target
            return
        result = self.function(self.node, *inputs)
        if not isinstance(result, (tuple, list)):
            result = (result,)
        for name, tensor in zip(self.node.outputs, result):
            values[name] = tensor


def make_steps(graph, inouts=()):
    """`inouts` has pairs (graph input, graph output) that share memory."""
    nodes = [Node(one, graph["types"]) for one in graph["nodes"]]
    drop_unit_scales(nodes, graph)
    old_value = {output: name for name, output in inouts}

    def may_write(number, node):
        """True when nobody reads the old value after the new one has come into its place."""
        name = old_value.get(node.outputs[0])
        if name is None:
            return True
        readers = [n for n, one in enumerate(nodes) if name in one.inputs]
        if any(nodes[n].op in VIEWS for n in readers):
            return False
        return all(n < number or (n == number and node.op in ELEMENTWISE) for n in readers)

    return [Step(node, may_write(number, node)) for number, node in enumerate(nodes)]


def drop_unit_scales(nodes, graph):
    """A normalisation without parameters is what its author wrote: ONNX wants a scale, torch does not."""
    ones = {one["name"] for one in graph["initializers"] if one["folded"] and one.get("values") == [1.0]}
    for node in nodes:
        if node.op in ("LayerNormalization", "RMSNormalization") and node.inputs[1] in ones:
            node.inputs = [node.inputs[0], "", *node.inputs[2:]]


def is_eager():
    return not (hasattr(torch, "compiler") and torch.compiler.is_compiling())


def op(*names, out=False):
    def register(function):
        for name in names:
            OPS[name] = function
            if out:
                OUT.add(name)
        return function

    return register


def ints(tensor):
    return [int(value) for value in tensor.reshape(-1).tolist()]


def axis_of(node, x, otherwise=-1):
    return node.get("axis", otherwise) % max(x.dim(), 1)


# --- elementwise

def _simple(table, out):
    for name, function in table.items():
        if out:
            op(name, out=True)(lambda node, *x, out=None, function=function: function(*x, out=out))
        else:
            op(name)(lambda node, *x, function=function: function(*x))


_simple({"Abs": torch.abs, "Neg": torch.neg, "Exp": torch.exp, "Log": torch.log, "Sqrt": torch.sqrt, "Tanh": torch.tanh,
         "Sigmoid": torch.sigmoid, "Erf": torch.erf, "Floor": torch.floor, "Ceil": torch.ceil, "Round": torch.round,
         "Sign": torch.sign, "Sin": torch.sin, "Cos": torch.cos, "Tan": torch.tan, "Asin": torch.asin, "Acos": torch.acos,
         "Atan": torch.atan, "Sinh": torch.sinh, "Cosh": torch.cosh, "Asinh": torch.asinh, "Acosh": torch.acosh,
         "Atanh": torch.atanh, "Reciprocal": torch.reciprocal, "Add": torch.add, "Sub": torch.sub, "Mul": torch.mul},
        out=True)  # fmt: skip
_simple({"Equal": torch.eq, "Less": torch.lt, "LessOrEqual": torch.le, "Greater": torch.gt, "GreaterOrEqual": torch.ge,
         "And": torch.logical_and, "Or": torch.logical_or, "Xor": torch.logical_xor, "Not": torch.logical_not,
         "IsNaN": torch.isnan, "Softsign": F.softsign, "Identity": lambda x: x}, out=False)  # fmt: skip


@op("Div", out=True)
def _div(node, a, b, out=None):
    return torch.div(a, b, rounding_mode=None if a.is_floating_point() else "trunc", out=out)


@op("Pow", out=True)
def _pow(node, a, b, out=None):
    return torch.pow(a, b.item() if b.numel() == 1 and is_eager() else b, out=out)


@op("Mod")
def _mod(node, a, b):
    return torch.fmod(a, b) if node.get("fmod", 0) else torch.remainder(a, b)


@op("Relu", out=True)
def _relu(node, x, out=None):
    return torch.relu(x) if out is None else torch.clamp_min(x, 0, out=out)


_nn = torch._C._nn


def _activation(name, call):
    """torch's private `_nn` functions are those behind torch.nn.functional; they alone take `out`."""
    op(name, out=True)(lambda node, x, out=None: call(node, x, {} if out is None else {"out": out}))


_activation("LeakyRelu", lambda n, x, o: _nn.leaky_relu(x, n.get("alpha", 0.01), **o))
_activation("Elu", lambda n, x, o: _nn.elu(x, n.get("alpha", 1.0), **o))
_activation("Selu", lambda n, x, o: _nn.elu(x, n.get("alpha", 1.67326319217681884765625), n.get("gamma", 1.05070102214813232421875), 1, **o))
_activation("Softplus", lambda n, x, o: _nn.softplus(x, 1, 20, **o))
_activation("HardSwish", lambda n, x, o: _nn.hardswish(x, **o))
_activation("Mish", lambda n, x, o: _nn.mish(x, **o))
_activation("Gelu", lambda n, x, o: _nn.gelu(x, approximate=n.get("approximate", "none"), **o))


@op("Swish", out=True)
def _swish(node, x, out=None):
    alpha = node.get("alpha", 1.0)
    if alpha == 1.0:
        return _nn.silu(x) if out is None else _nn.silu(x, out=out)
    return torch.mul(x, torch.sigmoid(alpha * x), out=out)


@op("HardSigmoid", out=True)
def _hard_sigmoid(node, x, out=None):
    alpha, beta = node.get("alpha", 0.2), node.get("beta", 0.5)
    if abs(alpha - 1 / 6) < 1e-7 and beta == 0.5:
        return _nn.hardsigmoid(x) if out is None else _nn.hardsigmoid(x, out=out)
    return torch.clamp(alpha * x + beta, 0, 1, out=out)


@op("Celu")
def _celu(node, x):
    return F.celu(x, node.get("alpha", 1.0))


@op("ThresholdedRelu")
def _thresholded(node, x):
    return F.threshold(x, node.get("alpha", 1.0), 0.0)


@op("PRelu")
def _prelu(node, x, slope):
    return torch.where(x < 0, x * slope, x)


@op("Clip", out=True)
def _clip(node, x, low=None, high=None, out=None):
    if low is None and high is None:
        return x.clone() if out is None else out.copy_(x)
    if is_eager():  # numbers are what a user would write
        low = low.item() if low is not None and low.numel() == 1 else low
        high = high.item() if high is not None and high.numel() == 1 else high
    return torch.clamp(x, low, high, out=out)


@op("Max", "Min", "Sum", "Mean")
def _variadic(node, first, *rest):
    join = {"Max": torch.maximum, "Min": torch.minimum}.get(node.op, torch.add)
    for other in rest:
        first = join(first, other)
    return first / (1 + len(rest)) if node.op == "Mean" else first


@op("Where")
def _where(node, condition, a, b):
    return torch.where(condition, a, b)


@op("Cast")
def _cast(node, x):
    from .torch_program import TORCH_TYPES

    return x.to(TORCH_TYPES[node.dtypes[0]])


# --- products and convolutions

@op("MatMul", out=True)
def _matmul(node, a, b, out=None):
    return torch.matmul(a, b) if out is None else torch.matmul(a, b, out=out)


@op("Gemm", out=True)
def _gemm(node, a, b, c=None, out=None):
    a = a.t() if node.get("transA", 0) else a
    b = b.t() if node.get("transB", 0) else b
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    if c is None:
        result = torch.mm(a, b) if out is None else torch.mm(a, b, out=out)
        return result if alpha == 1.0 else result.mul_(alpha)
    return torch.addmm(c, a, b, beta=beta, alpha=alpha) if out is None else torch.addmm(c, a, b, beta=beta, alpha=alpha, out=out)


@op("Einsum")
def _einsum(node, *operands):
    return torch.einsum(node.get("equation"), *operands)


def _padding(node, rank, x, kernel, stride, dilation):
    """Symmetric padding for torch, and x padded by hand where it is not symmetric."""
    pads = node.get("pads") or [0] * (2 * rank)
    auto = node.get("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        begin, end = [], []
        for d in range(rank):
            size = x.shape[2 + d]
            need = max(0, (-(-size // stride[d]) - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1 - size)
            first = need // 2 if auto == "SAME_UPPER" else need - need // 2
            begin.append(first)
            end.append(need - first)
        pads = begin + end
    elif auto == "VALID":
        pads = [0] * (2 * rank)
    if pads[:rank] == pads[rank:]:
        return x, pads[:rank], False
    flat = [value for d in reversed(range(rank)) for value in (pads[d], pads[rank + d])]
    return x, flat, True


@op("Conv")
def _conv(node, x, w, bias=None):
    rank = x.dim() - 2
    stride, dilation = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    x, padding, by_hand = _padding(node, rank, x, list(w.shape[2:]), stride, dilation)
    if by_hand:
        x, padding = F.pad(x, padding), [0] * rank
    return (F.conv1d, F.conv2d, F.conv3d)[rank - 1](x, w, bias, stride, padding, dilation, node.get("group", 1))


@op("ConvTranspose")
def _conv_transpose(node, x, w, bias=None):
    rank = x.dim() - 2
    stride, dilation = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    extra = node.get("output_padding", [0] * rank)
    pads = node.get("pads") or [0] * (2 * rank)
    shape = node.shapes[0][2:]
    if node.get("output_shape") or node.get("auto_pad", "NOTSET") != "NOTSET" or pads[:rank] != pads[rank:]:
        raise NotImplementedError("ConvTranspose with uneven or automatic padding is not implemented")
    function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[rank - 1]
    result = function(x, w, bias, stride, pads[:rank], extra, node.get("group", 1), dilation)
    if list(result.shape[2:]) != list(shape):
        raise NotImplementedError("ConvTranspose gives another shape here")
    return result


@op("MaxPool")
def _max_pool(node, x):
    rank = x.dim() - 2
    kernel, stride = node.get("kernel_shape"), node.get("strides", [1] * rank)
    dilation = node.get("dilations", [1] * rank)
    x, padding, by_hand = _padding(node, rank, x, kernel, stride, dilation)
    if by_hand:
        x, padding = F.pad(x, padding, value=float("-inf")), [0] * rank
    function = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[rank - 1]
    return function(x, kernel, stride, padding, dilation, ceil_mode=bool(node.get("ceil_mode", 0)))


@op("AveragePool", out=True)
def _average_pool(node, x, out=None):
    rank = x.dim() - 2
    kernel, stride = node.get("kernel_shape"), node.get("strides", [1] * rank)
    x, padding, by_hand = _padding(node, rank, x, kernel, stride, [1] * rank)
    if by_hand:
        raise NotImplementedError("AveragePool with uneven padding is not implemented")
    ceil, count = bool(node.get("ceil_mode", 0)), bool(node.get("count_include_pad", 0))
    if rank == 1:
        result = F.avg_pool1d(x, kernel, stride, padding, ceil, count)
        return result if out is None else out.copy_(result)
    function = (_nn.avg_pool2d, _nn.avg_pool3d)[rank - 2]
    return function(x, kernel, stride, padding, ceil, count, **({} if out is None else {"out": out}))


@op("GlobalAveragePool", "GlobalMaxPool")
def _global_pool(node, x):
    axes = list(range(2, x.dim()))
    return x.mean(axes, keepdim=True) if node.op == "GlobalAveragePool" else x.amax(axes, keepdim=True)


# --- rows

@op("Softmax", out=True)
def _softmax(node, x, out=None):
    return torch.softmax(x, axis_of(node, x), out=out) if out is not None else torch.softmax(x, axis_of(node, x))


@op("LogSoftmax", out=True)
def _log_softmax(node, x, out=None):
    return torch.log_softmax(x, axis_of(node, x), out=out) if out is not None else torch.log_softmax(x, axis_of(node, x))


@op("LayerNormalization")
def _layer_norm(node, x, scale=None, bias=None):
    if len([name for name in node.outputs if name]) > 1:
        raise NotImplementedError("the statistics of LayerNormalization are not implemented")
    shape = x.shape[axis_of(node, x):]
    scale = None if scale is None else scale.expand(shape)
    bias = None if bias is None else bias.expand(shape)
    return F.layer_norm(x, shape, scale, bias, node.get("epsilon", 1e-5))


@op("RMSNormalization")
def _rms_norm(node, x, scale=None):
    shape, epsilon = x.shape[axis_of(node, x):], node.get("epsilon", 1e-5)
    if hasattr(F, "rms_norm") and (scale is None or tuple(scale.shape) == tuple(shape)):
        return F.rms_norm(x, shape, scale, epsilon)
    axes = list(range(x.dim() - len(shape), x.dim()))
    normal = x * torch.rsqrt(x.pow(2).mean(axes, keepdim=True) + epsilon)
    return normal if scale is None else normal * scale


@op("GroupNormalization")
def _group_norm(node, x, scale, bias):
    return F.group_norm(x, node.get("num_groups"), scale, bias, node.get("epsilon", 1e-5))


@op("InstanceNormalization")
def _instance_norm(node, x, scale, bias):
    if x.dim() < 3 or x[0, 0].numel() == 1:
        return F.group_norm(x, x.shape[1], scale, bias, node.get("epsilon", 1e-5))
    return F.instance_norm(x, None, None, scale, bias, True, 0.0, node.get("epsilon", 1e-5))


@op("BatchNormalization")
def _batch_norm(node, x, scale, bias, mean, variance):
    epsilon = node.get("epsilon", 1e-5)
    if not node.get("training_mode", 0):
        return F.batch_norm(x, mean, variance, scale, bias, False, 0.0, epsilon)
    y = F.batch_norm(x, None, None, scale, bias, True, 0.0, epsilon)
    if len([name for name in node.outputs if name]) == 1:
        return y
    axes, momentum = [d for d in range(x.dim()) if d != 1], node.get("momentum", 0.9)
    now_mean, now_variance = x.mean(axes), x.var(axes, unbiased=False)
    return y, mean * momentum + now_mean * (1 - momentum), variance * momentum + now_variance * (1 - momentum)


@op("LpNormalization")
def _lp_normalization(node, x):
    return x / torch.linalg.vector_norm(x, node.get("p", 2), axis_of(node, x), keepdim=True)


# --- reductions

def _reduce(name, call):
    def run(node, x, axes=None):
        listed = ints(axes) if axes is not None else node.get("axes")
        if not listed and node.get("noop_with_empty_axes", 0):
            return x
        listed = [a % x.dim() for a in listed] if listed else list(range(x.dim()))
        return call(x, listed, bool(node.get("keepdims", 1)))

    op(name)(run)


def _product(x, axes, keep):
    for axis in sorted(axes, reverse=True):
        x = x.prod(axis, keepdim=keep)
    return x


_reduce("ReduceSum", lambda x, a, k: x.sum(a, keepdim=k))
_reduce("ReduceMean", lambda x, a, k: x.mean(a, keepdim=k))
_reduce("ReduceMax", lambda x, a, k: x.amax(a, keepdim=k))
_reduce("ReduceMin", lambda x, a, k: x.amin(a, keepdim=k))
_reduce("ReduceProd", _product)
_reduce("ReduceL1", lambda x, a, k: torch.linalg.vector_norm(x, 1, a, keepdim=k))
_reduce("ReduceL2", lambda x, a, k: torch.linalg.vector_norm(x, 2, a, keepdim=k))
_reduce("ReduceSumSquare", lambda x, a, k: x.square().sum(a, keepdim=k))
_reduce("ReduceLogSum", lambda x, a, k: x.sum(a, keepdim=k).log())
_reduce("ReduceLogSumExp", lambda x, a, k: torch.logsumexp(x, a, keepdim=k))


@op("ArgMax", "ArgMin")
def _arg(node, x):
    axis, keep = axis_of(node, x, 0), bool(node.get("keepdims", 1))
    function = torch.argmax if node.op == "ArgMax" else torch.argmin
    if not node.get("select_last_index", 0):
        return function(x, axis, keepdim=keep)
    return x.shape[axis] - 1 - function(x.flip(axis), axis, keepdim=keep)


@op("TopK")
def _topk(node, x, k):
    return tuple(torch.topk(x, ints(k)[0], axis_of(node, x), bool(node.get("largest", 1)), True))


@op("CumSum", "CumProd", out=True)
def _scan(node, x, axis, out=None):
    axis = ints(axis)[0]
    function = torch.cumsum if node.op == "CumSum" else torch.cumprod
    reverse, exclusive = node.get("reverse", 0), node.get("exclusive", 0)
    if not reverse and not exclusive:
        return function(x, axis) if out is None else function(x, axis, out=out)
    x = x.flip(axis) if reverse else x
    if exclusive:
        first = torch.full_like(x.narrow(axis, 0, 1), 0 if node.op == "CumSum" else 1)
        x = torch.cat([first, x.narrow(axis, 0, x.shape[axis] - 1)], axis)
    y = function(x, axis)
    y = y.flip(axis) if reverse else y
    return y if out is None else out.copy_(y)


@op("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def _loss(node, x, labels, weights=None):
    function = F.nll_loss if node.op == "NegativeLogLikelihoodLoss" else F.cross_entropy
    loss = function(x, labels.long(), weights, ignore_index=node.get("ignore_index", -100), reduction=node.get("reduction", "mean"))
    return loss if len(node.outputs) == 1 else (loss, torch.log_softmax(x, 1))


# --- layout

@op("Reshape", "Flatten", "Squeeze", "Unsqueeze")
def _reshape(node, x, *ignored):
    return x.reshape(node.shapes[0])


@op("Dropout")
def _dropout(node, x, *ignored):
    return x


@op("Transpose")
def _transpose(node, x):
    return x.permute(node.get("perm") or list(reversed(range(x.dim()))))


@op("Expand")
def _expand(node, x, *ignored):
    return x.expand(node.shapes[0])


@op("Slice")
def _slice(node, x, starts, ends, axes=None, steps=None):
    starts, ends = ints(starts), ints(ends)
    axes = ints(axes) if axes is not None else list(range(len(starts)))
    steps = ints(steps) if steps is not None else [1] * len(starts)
    for start, end, axis, step in zip(starts, ends, axes, steps):
        places = range(x.shape[axis])[slice(start, end if end >= -x.shape[axis] else None, step)]
        if step > 0:
            x = x.narrow(axis, places.start, max(0, places.stop - places.start))[(slice(None),) * (axis % x.dim()) + (slice(None, None, step),)]
        elif len(places) == x.shape[axis] and step == -1:
            x = x.flip(axis)
        else:
            x = x.index_select(axis, torch.tensor(list(places), dtype=torch.int64))
    return x


@op("Split")
def _split(node, x, *ignored):
    axis = axis_of(node, x, 0)
    return torch.split(x, [shape[axis] for shape in node.shapes], axis)


@op("Concat", out=True)
def _concat(node, *parts, out=None):
    return torch.cat(parts, node.get("axis")) if out is None else torch.cat(parts, node.get("axis"), out=out)


@op("Pad")
def _pad(node, x, pads, value=None, axes=None):
    if node.get("mode", "constant") != "constant" or axes is not None:
        raise NotImplementedError("only constant padding of all axes is implemented")
    pads, rank = ints(pads), x.dim()
    flat = [pads[d + side * rank] for d in reversed(range(rank)) for side in (0, 1)]
    return F.pad(x, flat, value=0 if value is None else value.item())


@op("Tile")
def _tile(node, x, repeats):
    return x.repeat(ints(repeats))


@op("Trilu")
def _trilu(node, x, k=None):
    return (torch.triu if node.get("upper", 1) else torch.tril)(x, 0 if k is None else ints(k)[0])


@op("Gather")
def _gather(node, x, index):
    axis = axis_of(node, x, 0)
    if axis == 0 and x.dim() == 2 and x.is_floating_point():
        return F.embedding(torch.where(index < 0, index + x.shape[0], index), x)
    flat = torch.where(index < 0, index + x.shape[axis], index).reshape(-1)
    return x.index_select(axis, flat).reshape(node.shapes[0])


@op("GatherElements")
def _gather_elements(node, x, index):
    axis = axis_of(node, x, 0)
    return torch.gather(x, axis, torch.where(index < 0, index + x.shape[axis], index))


@op("ScatterElements")
def _scatter_elements(node, x, index, updates):
    axis = axis_of(node, x, 0)
    index = torch.where(index < 0, index + x.shape[axis], index)
    if node.get("reduction", "none") == "add":
        return x.scatter_add(axis, index, updates)
    return x.scatter(axis, index, updates)


@op("Range")
def _range(node, start, limit, delta):
    return torch.arange(start.item(), limit.item(), delta.item(), dtype=start.dtype)


@op("ConstantOfShape", "Constant")
def _constant(node, *ignored):
    from .torch_program import constant_tensor

    value = node.get("value")
    if node.op == "Constant":
        return constant_tensor(value)
    filler = constant_tensor(value).reshape(-1) if value else torch.zeros(1)
    return filler.expand(node.shapes[0]) if node.shapes[0] else filler.reshape([])


@op("DequantizeLinear")
def _dequantize(node, x, scale, zero=None):
    if scale.dim() == 1:
        shape = [1] * x.dim()
        shape[axis_of(node, x, 1)] = -1
        scale, zero = scale.reshape(shape), None if zero is None else zero.reshape(shape)
    whole = x.to(scale.dtype)
    return (whole if zero is None else whole - zero.to(scale.dtype)) * scale

"""A module as an ONNX file by either of PyTorch's exporters, weights left out.

Weights and buffers become inputs of the graph under their own names, behind the module's inputs: KForge decides which of
them are drawn and which keep their values.
"""

import contextlib
import io
import logging
import warnings

import torch

LEGACY_OPSET = 17


def major_version():
    return int(torch.__version__.split(".")[0])


def available():
    if major_version() < 2:
        return ["legacy"]
    try:
        import onnxscript  # noqa: F401
    except ImportError:
        return ["legacy"]
    return ["legacy", "dynamo"]


@contextlib.contextmanager
def quiet():
    """Exporters print pages; what matters is in the exception."""
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


def reduced(values, reduction):
    return {"mean": torch.mean, "sum": torch.sum, "none": lambda one: one}[reduction](values)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    away = (input - target).abs()
    return reduced(torch.where(away < beta, 0.5 * away * away / beta, away - 0.5 * beta), reduction)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    away = (input - target).abs()
    values = torch.where(away < delta, 0.5 * away * away, delta * (away - 0.5 * delta))
    return reduced(values if weight is None else values * weight, reduction)


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"
):
    def distance(a, b):
        return ((a - b + eps).abs() ** p).sum(-1) ** (1.0 / p)

    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    return reduced(torch.clamp(near - far + margin, min=0.0), reduction)


def group_norm_of(original):
    """The rule for it looks at axes behind the channels, which a matrix does not have."""

    def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
        if input.dim() != 2:
            return original(input, num_groups, weight, bias, eps)
        return original(input.unsqueeze(-1), num_groups, weight, bias, eps).squeeze(-1)

    return group_norm


@contextlib.contextmanager
def spelled_out():
    """Functions for which exporters have no rule, by operators for which they have. KForge compares the graph with the
    module as it is."""
    functional = torch.nn.functional
    ours = {"smooth_l1_loss": smooth_l1_loss, "huber_loss": huber_loss, "triplet_margin_loss": triplet_margin_loss}
    ours["group_norm"] = group_norm_of(functional.group_norm)
    theirs = {name: getattr(functional, name) for name in ours}
    try:
        for name, function in ours.items():
            setattr(functional, name, function)
        yield
    finally:
        for name, function in theirs.items():
            setattr(functional, name, function)


def cumulative_product(g, self, dim, dtype=None):
    from torch.onnx import symbolic_helper

    axis = g.op("Constant", value_t=torch.tensor(symbolic_helper._get_const(dim, "i", "dim")))
    return g.op("kforge::CumProd", self, axis).setType(self.type())


def export_legacy(problem, path):
    options = {"dynamo": False} if major_version() >= 2 else {}
    newest = LEGACY_OPSET
    if major_version() < 2:
        from torch.onnx._constants import ONNX_MAX_OPSET

        newest = min(newest, ONNX_MAX_OPSET)
    torch.onnx.register_custom_op_symbolic("aten::cumprod", cumulative_product, newest)
    torch.onnx.export(
        problem.plain(), tuple(problem.tensors()), path, custom_opsets={"kforge": 1}, input_names=problem.input_names(), opset_version=newest,
        export_params=False, do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE, **options,
    )  # fmt: skip


def export_dynamo(problem, path):
    program = torch.onnx.export(
        problem.plain(), tuple(problem.tensors()), dynamo=True, input_names=problem.input_names(), verbose=False,
        opset_version=20,
    )  # fmt: skip
    graph = program.model.graph
    states = {"module." + name for name, _, _ in problem.states()}
    for name in list(graph.initializers):
        if name in states:
            value = graph.initializers.pop(name)
            value.const_value = None
            graph.inputs.append(value)
    program.save(path)


def export(problem, exporter, path):
    # Not an inference mode: exporters trace some operators only where gradients could flow.
    with quiet(), torch.no_grad(), spelled_out():
        {"legacy": export_legacy, "dynamo": export_dynamo}[exporter](problem, path)

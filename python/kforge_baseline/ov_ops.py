"""Operators of domain "kforge" as OpenVINO's own: one function per operator, given the node and its inputs."""

import numpy
from openvino import opset13 as ops
from openvino.frontend.onnx import ConversionExtension


def gelu(node, x):
    return ops.gelu(x, "tanh" if node.get_attribute("approximate", "none") == "tanh" else "erf")


def mish(node, x):
    return ops.mish(x)


def swish(node, x):
    alpha = node.get_attribute("alpha", 1.0)
    return ops.swish(x) if alpha == 1.0 else ops.swish(x, constant_like(x, alpha))


def group_norm(node, x, scale, bias):
    return ops.group_normalization(x, scale, bias, node.get_attribute("num_groups"), node.get_attribute("epsilon", 1e-5))


def rms_norm(node, x, scale):
    """OpenVINO has an operator for it inside; its passes find this way of writing it."""
    rank = x.get_partial_shape().rank.get_length()
    axes = numpy.arange(node.get_attribute("axis", -1) % rank, rank)
    mean = ops.reduce_mean(ops.power(x, constant_like(x, 2)), axes, keep_dims=True)
    root = ops.sqrt(ops.add(mean, constant_like(x, node.get_attribute("epsilon", 1e-5))))
    return ops.multiply(scale, ops.multiply(x, ops.divide(constant_like(x, 1), root)))


def constant_like(x, value):
    return ops.constant(value, x.get_element_type())


OPERATORS = {
    "Gelu": gelu, "Mish": mish, "Swish": swish, "GroupNormalization": group_norm, "RMSNormalization": rms_norm,
}  # fmt: skip


def add_to(core):
    for name, function in OPERATORS.items():

        def convert(node, function=function):
            inputs = [node.get_input(i) for i in range(node.get_input_size())]
            return function(node, *inputs).outputs()

        core.add_extension(ConversionExtension(name, "kforge", convert))

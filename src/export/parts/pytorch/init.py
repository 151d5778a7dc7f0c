"""A verified kernel as a PyTorch module, made by KForge: ModelNew, and the original Model it stands in for."""

from . import runtime
from .reference import Model, get_init_inputs, get_inputs

ModelNew = runtime.module_class(Model, get_inputs)

__all__ = ["Model", "ModelNew", "get_init_inputs", "get_inputs"]

"""OpenVINO as a baseline: params become constants of its model (so that it packs them once), inputs and outputs are
the parent's memory."""

import ctypes

import numpy
import openvino
from openvino import opset13

from . import ov_ops
from .tensors import view

OV_TYPES = {
    "float32": openvino.Type.f32, "float64": openvino.Type.f64, "float16": openvino.Type.f16,
    "bfloat16": openvino.Type.bf16, "int8": openvino.Type.i8, "int16": openvino.Type.i16, "int32": openvino.Type.i32,
    "int64": openvino.Type.i64, "uint8": openvino.Type.u8, "uint16": openvino.Type.u16, "uint32": openvino.Type.u32,
    "uint64": openvino.Type.u64, "bool": openvino.Type.boolean,
}  # fmt: skip


def shared(arguments, index, argument, slot):
    """The parent's memory as a tensor. OpenVINO takes only arrays that may be written; it never writes to an input."""
    data = view(arguments, index, argument, slot)
    if data.nbytes == 0:
        raise NotImplementedError("tensors without elements are not implemented")
    memory = (ctypes.c_char * data.nbytes).from_address(data.ctypes.data)
    array = numpy.frombuffer(memory, dtype=data.dtype).reshape(data.shape)
    return openvino.Tensor(array, argument["shape"], OV_TYPES[argument["dtype"]])


class OvProgram:
    def __init__(self, job):
        self.job = job
        self.slots = {}

    def load(self, arguments):
        if len(arguments) != len(self.job["arguments"]):
            raise ValueError("the parent's tensors are not those of the job")
        self.arguments = arguments
        self.core = openvino.Core()
        ov_ops.add_to(self.core)

    def prepare(self):
        model = self.core.read_model(self.job["graph"])
        self.params = self.fix_params(model)  # stay alive as long as the program
        settings = {
            "PERFORMANCE_HINT": "LATENCY",
            "EXECUTION_MODE_HINT": "ACCURACY",
            "INFERENCE_PRECISION_HINT": self.job["precision"],
            "INFERENCE_NUM_THREADS": self.job["threads"],
            "NUM_STREAMS": 1,
            # The parent says on which processors the program runs.
            "ENABLE_CPU_PINNING": False,
        }
        self.request = self.core.compile_model(model, "CPU", settings).create_infer_request()
        self.slots = {}

    def fix_params(self, model):
        values = []
        by_name = {name: one for one in model.get_parameters() for name in one.output(0).get_names()}
        for index, argument in enumerate(self.job["arguments"]):
            parameter = by_name.get(argument["name"])
            if argument["role"] != "param" or parameter is None:
                continue
            tensor = shared(self.arguments, index, argument, 0)
            constant = opset13.constant(tensor, shared_memory=True)
            parameter.output(0).replace(constant.output(0))
            model.remove_parameter(parameter)
            values.append(tensor)
        model.validate_nodes_and_infer_types()
        return values

    def call(self, slot):
        tensors = self.slots.get(slot)
        if tensors is None:
            tensors = self.slots[slot] = self.bind(slot)
        for port, tensor in tensors[0]:
            self.request.set_tensor(port, tensor)
        self.request.infer(share_outputs=True)
        for target, result in tensors[1]:
            target.data[...] = result.data

    def bind(self, slot):
        """Pairs (port, tensor) of one slot, and pairs (target, result) to copy after the run."""
        model = self.request.get_compiled_model()
        inputs = {name: port for port in model.inputs for name in port.get_names()}
        outputs = {name: port for port in model.outputs for name in port.get_names()}
        places, copies = [], []
        for index, argument in enumerate(self.job["arguments"]):
            role, name = argument["role"], argument["name"]
            if role == "param":
                continue
            tensor = shared(self.arguments, index, argument, slot)
            if role != "output" and name in inputs:
                places.append((inputs[name], tensor))
            if role == "output":
                places.append((outputs[name], tensor))
            if role == "inout":
                # It may write a result before it has read its inputs, so the new value has its own memory.
                result = openvino.Tensor(tensor.element_type, tensor.shape)
                places.append((outputs[argument["output"]], result))
                copies.append((tensor, result))
        return places, copies

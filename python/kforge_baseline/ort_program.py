"""onnxruntime as a baseline: params are initializers (so that it packs them once), inputs and outputs are bound to
the parent's memory."""

import onnxruntime

from .tensors import view

# TensorProto.DataType
ONNX_TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
    "float64": 11, "uint32": 12, "uint64": 13, "bfloat16": 16,
}  # fmt: skip


class OrtProgram:
    def __init__(self, job):
        self.job = job
        self.session = None
        self.bindings = {}

    def load(self, arguments):
        self.arguments = arguments
        if len(arguments) != len(self.job["arguments"]):
            raise ValueError("the parent's tensors are not those of the job")
        if any(argument["role"] == "inout" for argument in self.job["arguments"]):
            # Its results would have to be copied back over the inputs; that is no longer what onnxruntime does.
            self.results_to_copy = True

    def prepare(self):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.job["threads"]
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        names, values = [], []
        for index, argument in enumerate(self.job["arguments"]):
            if argument["role"] != "param":
                continue
            data = view(self.arguments, index, argument, 0)
            names.append(argument["name"])
            values.append(onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(data, ONNX_TYPES[argument["dtype"]]))
        if names:
            options.add_external_initializers(names, values)
        self.values = values  # stay alive as long as the session
        self.bindings = {}
        self.session = onnxruntime.InferenceSession(self.job["graph"], options, providers=["CPUExecutionProvider"])

    def call(self, slot):
        binding = self.bindings.get(slot)
        if binding is None:
            binding = self.bindings[slot] = self.bind(slot)
        self.session.run_with_iobinding(binding[0])
        for target, result in binding[1]:
            target[...] = result.numpy()

    def bind(self, slot):
        """The binding of one slot, and pairs (target, result) to copy after the run."""
        binding = self.session.io_binding()
        used = {one.name for one in self.session.get_inputs()}
        copies = []
        for index, argument in enumerate(self.job["arguments"]):
            role, name = argument["role"], argument["name"]
            if role == "param":
                continue
            data = view(self.arguments, index, argument, slot)
            place = ("cpu", 0, ONNX_TYPES[argument["dtype"]], argument["shape"], data.ctypes.data)
            if role == "output":
                binding.bind_output(name, *place)
                continue
            if name in used:
                binding.bind_input(name, *place)
            if role == "inout":
                # onnxruntime may write a result before it has read its inputs, so the new value has its own memory.
                value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(argument["shape"], data.dtype)
                binding.bind_ortvalue_output(argument["output"], value)
                copies.append((data, value))
        return binding, copies

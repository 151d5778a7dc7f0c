"""A compiled kernel as a PyTorch operator, and ModelNew around it.

The kernel is called where everything is as it was judged: these shapes and element types, contiguous tensors in the
memory of the processor, nobody who asks for gradients. Everything else goes to the original module; each such call is
counted by its reason and logged once. The operator is registered under a name of its own, so many exports live in one
process, and it has a fake form, so torch.compile need not leave its graph.
"""

import ctypes
import logging
import os
import re
import threading
import weakref

import torch

from .build_kernel import HERE, MANIFEST, NAME, build_library, library_folder

ALIGNMENT = 64
log = logging.getLogger("kforge")


def _dtype(name):
    return getattr(torch, name)


# ---- the library


class _Library:
    """The C interface of the kernel, loaded when it is first needed."""

    def __init__(self):
        self.lock = threading.Lock()
        self.loaded = None

    def get(self):
        with self.lock:
            if self.loaded is None:
                self.loaded = self._load()
        return self.loaded

    @staticmethod
    def _load():
        places = [os.path.join(folder, f"lib{NAME}.so") for folder in (HERE, library_folder())]
        found = [path for path in places if os.path.exists(path)]
        library = ctypes.CDLL(found[0] if found else build_library())
        functions = {}
        for name, result, arguments in (
            ("missing", ctypes.c_char_p, []),
            ("status_text", ctypes.c_char_p, [ctypes.c_int]),
            ("create_v", ctypes.c_int, [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]),
            ("run_v", ctypes.c_int, [ctypes.c_void_p, ctypes.c_void_p]),
            ("destroy", None, [ctypes.c_void_p]),
        ):
            function = getattr(library, f"{NAME}_{name}")
            function.restype, function.argtypes = result, arguments
            functions[name] = function
        return functions

    def why_not(self):
        """Why the kernel cannot run on this machine at all; None: it can."""
        try:
            missing = self.get()["missing"]()
        except (OSError, RuntimeError) as error:
            return str(error)
        return f"this processor lacks {missing.decode()}" if missing else None


_library = _Library()


def _check(status):
    if status != 0:
        raise RuntimeError(f"kernel {NAME}: {_library.get()['status_text'](status).decode()}")


def _pointers(tensors):
    return (ctypes.c_void_p * max(1, len(tensors)))(*[one.data_ptr() for one in tensors])


def _aligned(tensor):
    return tensor.data_ptr() % ALIGNMENT == 0 and tensor.is_contiguous()


def _aligned_copy(tensor):
    """PyTorch's own allocations begin at multiples of 64 bytes; slices of others need not."""
    return torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor)


# ---- one per module: the kernel made ready for the module's parameters

_instances = weakref.WeakValueDictionary()
_next_handle = [0]


class Instance:
    """What ModelNew keeps beside the original module's own state. Copied and pickled with it, plan apart."""

    def __init__(self, paths, unusable, modes):
        self.paths = paths  # of the params: ("conv", "weight")
        self.unusable = unusable  # why the kernel is never called; None: it may be
        self.modes = modes  # values of module.training in which the kernel computes what the module does
        self.inputs = tuple((_dtype(one["dtype"]), tuple(one["shape"])) for one in MANIFEST["inputs"])
        self.calls = 0
        self.copies = 0  # tensors that did not begin at a multiple of 64 bytes
        self.preparations = 0
        self.fallbacks = {}  # reason: calls
        self.lock = threading.Lock()
        self.plan = ctypes.c_void_p()
        self.prepared_for = None
        self.kept = []
        self.handle = _next_handle[0]
        _next_handle[0] += 1
        _instances[self.handle] = self

    def __reduce__(self):
        return Instance, (self.paths, self.unusable, self.modes)

    def __del__(self):
        if self.plan:
            _library.get()["destroy"](self.plan)

    # Traced by torch.compile: nothing here but attributes of tensors.
    def why_not(self, module, inputs, params):
        if self.unusable is not None:
            return self.unusable
        if module.training not in self.modes:
            return "training mode" if module.training else "evaluation mode"
        if len(inputs) != len(self.inputs):
            return "another number of tensors"
        for (dtype, shape), tensor in zip(self.inputs, inputs):
            if tensor.dtype != dtype:
                return "element type"
            if tuple(tensor.shape) != shape:
                return "shape"
            if tensor.device.type != "cpu":
                return "device"
            if not tensor.is_contiguous():
                return "strides"
        for tensor in params:
            if tensor.device.type != "cpu":
                return "device"
        if torch.is_grad_enabled():
            for tensor in inputs:
                if tensor.requires_grad:
                    return "gradients"
            for tensor in params:
                if tensor.requires_grad:
                    return "gradients"
        return None

    def params_of(self, module):
        found = []
        for path in self.paths:
            owner = module
            for name in path:
                owner = getattr(owner, name)
            found.append(owner)
        return found

    def fell_back(self, reason):
        if reason not in self.fallbacks:
            log.warning("%s: the original module is used (%s); counted from here on", NAME, reason)
        self.fallbacks[reason] = self.fallbacks.get(reason, 0) + 1

    def stats(self):
        """Calls of the kernel, of the original module by reason, copies and preparations."""
        return {
            "calls": self.calls, "fallbacks": dict(self.fallbacks), "copies": self.copies,
            "preparations": self.preparations, "unusable": self.unusable,
        }  # fmt: skip

    def _ready(self, params):
        threads = torch.get_num_threads()
        try:
            state = (threads, tuple((one.data_ptr(), one._version) for one in params))
        except RuntimeError:  # tensors made in inference mode do not count their changes
            state = None
        if state is not None and state == self.prepared_for:
            return
        library = _library.get()
        if self.plan:
            library["destroy"](self.plan)
            self.plan = ctypes.c_void_p()
        used = [one.detach() if _aligned(one) else _aligned_copy(one.detach()) for one in params]
        _check(library["create_v"](ctypes.byref(self.plan), threads, _pointers(used)))
        # Kept, so that no other tensor can come to lie at the same place and pass for them.
        self.kept = used + [one.detach() for one in params]
        self.prepared_for = state
        self.preparations += 1

    def call(self, inputs, params):
        with self.lock:
            self._ready(params)
            given = iter(inputs)
            tensors = []
            for one in MANIFEST["tensors"]:
                if one["role"] == "output":
                    tensors.append(torch.empty(one["shape"], dtype=_dtype(one["dtype"])))
                    continue
                tensor = next(given)
                if one["role"] == "inout" or not _aligned(tensor):
                    self.copies += one["role"] != "inout"
                    tensor = _aligned_copy(tensor)
                tensors.append(tensor)
            _check(_library.get()["run_v"](self.plan, _pointers(tensors)))
            self.calls += 1
        return [tensors[number] for number in MANIFEST["outputs"]]


# ---- the operator


def _run(handle, inputs, params):
    return _instances[handle].call(inputs, params)


def _fake(handle, inputs, params):
    tensors = [MANIFEST["tensors"][number] for number in MANIFEST["outputs"]]
    return [torch.empty(one["shape"], dtype=_dtype(one["dtype"]), device="cpu") for one in tensors]


def _fake_on_meta(handle, inputs, params):
    return [one.to("meta") for one in _fake(handle, inputs, params)]


def _register():
    namespace = MANIFEST["package"]
    library = torch.library.Library(namespace, "DEF")
    library.define("run(int handle, Tensor[] inputs, Tensor[] params) -> Tensor[]")
    library.impl("run", _run, "CPU")
    if hasattr(torch.library, "register_fake"):  # 2.4
        torch.library.register_fake(f"{namespace}::run", _fake, lib=library)
    elif hasattr(torch.library, "impl_abstract"):  # 2.1
        torch.library.impl_abstract(f"{namespace}::run", _fake, lib=library)
    else:
        library.impl("run", _fake_on_meta, "Meta")
    return library, getattr(torch.ops, namespace).run


_registered, _operator = _register()  # the operator goes when the first of them does


def _compiling():
    compiler = getattr(torch, "compiler", None)
    return compiler is not None and hasattr(compiler, "is_compiling") and compiler.is_compiling()


# ---- the module


def _plain(name):
    return re.sub(r"[^0-9A-Za-z]", "_", name).lower()


def _tensors_of(module):
    """Every tensor of a module by its dotted name: parameters, buffers, and plain attributes."""
    found = dict(module.state_dict(keep_vars=True))
    for prefix, owner in module.named_modules():
        for name, value in vars(owner).items():
            if isinstance(value, torch.Tensor):
                found.setdefault(f"{prefix}.{name}" if prefix else name, value)
    return found


def _match_params(module):
    """The module's tensor for each param of the kernel: by name, else by order. (paths, why not)."""
    held = _tensors_of(module)
    by_name = {}
    for name in held:
        by_name.setdefault(_plain(name), name)

    def fits(name, param):
        tensor = held[name]
        return tuple(tensor.shape) == tuple(param["shape"]) and tensor.dtype == _dtype(param["dtype"])

    chosen = []
    for param in MANIFEST["params"]:
        plain = _plain(param["name"])
        names = [by_name[one] for one in (plain, re.sub(r"^module_", "", plain)) if one in by_name]
        chosen.append(next((name for name in names if fits(name, param)), None))
    if any(name is None for name in chosen):
        state = list(module.state_dict())
        in_order = len(state) == len(chosen) and all(map(fits, state, MANIFEST["params"]))
        if not in_order:
            lost = [p["name"] for p, name in zip(MANIFEST["params"], chosen) if name is None]
            return [], f"the module has no tensor for the kernel's param {lost[0]} {MANIFEST['params']}"[:300]
        chosen = state
    return [tuple(name.split(".")) for name in chosen], None


_DEPEND_ON_MODE = (
    torch.nn.modules.batchnorm._NormBase, torch.nn.modules.dropout._DropoutNd, torch.nn.RNNBase,
    torch.nn.MultiheadAttention,
)  # fmt: skip


def stored(tensor, folder=os.path.join(HERE, "test")):
    """The stored values of a tensor of the manifest; a file holds the first elements, which repeat to the end."""
    with open(os.path.join(folder, tensor["c_name"] + ".in"), "rb") as file:
        block = torch.frombuffer(bytearray(file.read()), dtype=_dtype(tensor["dtype"]))
    count = 1
    for size in tensor["shape"]:
        count *= size
    if count == 0:
        return torch.empty(tensor["shape"], dtype=block.dtype)
    return block.repeat(-(-count // len(block)))[:count].reshape(tensor["shape"]).clone()


def _agreeing_modes(module, forward, instance):
    """Modules with batch normalisation or dropout compute different things in their two modes: find out which is meant."""
    if not any(isinstance(one, _DEPEND_ON_MODE) for one in module.modules()):
        return (False, True)
    import copy

    modes = []
    inputs = [stored(one) for one in MANIFEST["inputs"]]
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        got = instance.call(inputs, instance.params_of(module))
        for mode in (False, True):
            original = copy.deepcopy(module).train(mode)
            want = flattened(forward(original, *[one.clone() for one in inputs]))
            near = len(want) == len(got) and all(
                a.shape == b.shape and torch.allclose(a, b, rtol=1e-3, atol=1e-3 * float(b.abs().max() or 1))
                for a, b in zip(got, want)
            )
            if near:
                modes.append(mode)
    return tuple(modes)


def flattened(value):
    """The tensors of a result, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [tensor for one in value for tensor in flattened(one)]
    return []


def attach(module, forward):
    """The kernel for a module: its params found, its mode known. `forward(module, ...)` is the original's."""
    paths, unusable = _match_params(module)
    unusable = unusable or _library.why_not()
    instance = Instance(paths, unusable, (False, True))
    if unusable is None:
        instance.modes = _agreeing_modes(module, forward, instance)
        if not instance.modes:
            instance.unusable = "the kernel agrees with the module in neither mode"
    return instance


def outputs_of(instance, tensors, params):
    """The kernel's results as a list, through the operator. REQUIRES: why_not() gave None."""
    return _operator(instance.handle, tensors, params)


def run(instance, module, original, inputs, named, same_values=None):
    """The kernel's result, or that of `original`. `same_values` says whether arguments that are no tensors are those of
    the graph."""
    tensors = [one for one in inputs if isinstance(one, torch.Tensor)]
    reason = "named arguments" if named else None
    if reason is None and len(tensors) != len(inputs) and not (same_values and same_values(inputs)):
        reason = "values that are no tensors"
    if reason is None:
        params = instance.params_of(module)
        reason = instance.why_not(module, tensors, params)
    if reason is not None:
        if not _compiling():
            instance.fell_back(reason)
        return original(*inputs, **named)
    outputs = outputs_of(instance, tensors, params)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def module_class(Model, get_inputs=None):
    """ModelNew for a class Model of a KernelBench problem: the same state, the kernel in place of forward()."""

    class ModelNew(Model):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            object.__setattr__(self, "_kforge", attach(self, Model.forward))

        def forward(self, *inputs, **named):
            return run(self._kforge, self, super().forward, inputs, named, self._kforge_same_values)

        def _kforge_same_values(self, inputs):
            """Arguments that are no tensors became part of the graph."""
            if get_inputs is None:
                return False
            if "values" not in vars(self._kforge):
                with torch.random.fork_rng(devices=[]):
                    self._kforge.values = [None if isinstance(one, torch.Tensor) else (one,) for one in get_inputs()]
            given = [None if isinstance(one, torch.Tensor) else (one,) for one in inputs]
            return given == self._kforge.values

        def kforge_stats(self):
            return self._kforge.stats()

        def kforge_refresh(self):
            """Must be called after weights were changed through .data, which PyTorch does not count."""
            self._kforge.prepared_for = None

    ModelNew.__module__ = MANIFEST["package"]
    ModelNew.__qualname__ = "ModelNew"
    return ModelNew


"""Calls a PyTorch module as KForge asks: runner.py PROGRAM --calls N --inputs FILE --outputs FILE.

PROGRAM is what compile.py made of a file that defines ModelNew as an answer to a KernelBench problem does (or Model: then it is the
problem itself). It is built with the arguments of the task's own module, which lies beside this file as reference.py, and gets the task's params as its parameters.
A task without a module calls ModelNew() with its inputs and params, in the task's order.

Both files are safetensors. The outputs file is there already, with its header. Every tensor but params has a first axis over the calls.
"""
import importlib.machinery
import importlib.util
import json
import mmap
import os
import re
import sys
import time
import zipfile

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
    "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
}


def tensors_of(path, writable):
    """The tensors of a safetensors file, lying in the file itself, and its metadata."""
    with open(path, "r+b" if writable else "rb") as file:
        # A private copy where it may not be written: torch has no tensors that are read-only.
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_WRITE if writable else mmap.ACCESS_COPY)
    length = int.from_bytes(mapped[:8], "little")
    header = json.loads(mapped[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        dtype = DTYPES[entry["dtype"]]
        if begin == end:
            tensors[name] = torch.empty(entry["shape"], dtype=dtype)
            continue
        count = (end - begin) // torch.empty((), dtype=dtype).element_size()
        tensors[name] = torch.frombuffer(mapped, dtype=dtype, count=count, offset=8 + length + begin).view(entry["shape"])
    return tensors, metadata


def plain_name(name):
    return re.sub(r"[^A-Za-z0-9]", "_", name)


def load_program(path):
    """ModelNew; or Model, with the numbers of the judged sizes."""
    namespace = {"__name__": "program", "__file__": path}
    with zipfile.ZipFile(path) as archive:
        text = archive.read("program.py").decode()
        libraries = [name for name in archive.namelist() if name.startswith("extensions/")]
        archive.extractall(os.getcwd(), libraries)
    if libraries or "load_inline" in text or "cpp_extension" in text:
        use_compiled({os.path.basename(name)[: -len(".so")]: os.path.abspath(name) for name in libraries})
    if "class ModelNew" in text:
        exec(compile(text, path, "exec"), namespace)
        return namespace["ModelNew"]
    from kforge_source import Source

    return Source(path, text).module(module_numbers()["numbers"]).Model


def use_compiled(libraries):
    """What compile.py made takes the place of compiling it again."""
    from torch.utils import cpp_extension

    def load(name, *arguments, is_python_module=True, **options):
        if name not in libraries:
            raise RuntimeError(f"the extension {name} was not made when the answer was built: compile it at the top of the file")
        if not is_python_module:
            return torch.ops.load_library(libraries[name])
        loader = importlib.machinery.ExtensionFileLoader(name, libraries[name])
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
        loader.exec_module(module)
        return module

    cpp_extension.load_inline = cpp_extension.load = load


def module_numbers():
    with open(beside("reference.json"), encoding="utf-8") as file:
        return json.load(file)


def beside(name):
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)


def put_params(module, params):
    """The task's params become the module's parameters: by name, or, where no name fits, in order, as KernelBench pairs them."""
    states = {plain_name(name): tensor for name, tensor in module.state_dict(keep_vars=True).items()}
    by_name = {name: states.get(name, states.get(re.sub("^module_", "", name))) for name in params}
    if any(state is None for state in by_name.values()):
        ordered = [tensor for tensor in module.parameters()]
        if [tuple(one.shape) for one in ordered] != [tuple(one.shape) for one in params.values()]:
            sys.exit("runner: the parameters of ModelNew are not those of Model, neither by name nor in order")
        by_name = dict(zip(params, ordered))
    for name, values in params.items():
        if by_name[name].shape != values.shape:
            sys.exit(f"runner: {name} of ModelNew is {list(by_name[name].shape)}, of Model {list(values.shape)}")
        by_name[name].data = values.clone()  # a module may write to its parameters


def answer_of(model, numbers):
    """The answer's module, built as the task's own at these numbers."""
    from kforge_problem import build_module
    from kforge_source import Source

    reference = Source(beside("reference.py")).module(numbers)
    reference.Model = model
    return build_module(reference)


def make_call(program, params, names):
    """A function of the tensors of one call, by name."""
    if not os.path.exists(beside("reference.py")):
        module = load_program(program)()
        return lambda tensors: module(*[params.get(name, tensors.get(name)) for name in names])
    from kforge_problem import Plain, Problem
    from kforge_source import Source

    numbers = module_numbers()
    small = Problem(Source(beside("reference.py")), numbers["small"])
    module = answer_of(load_program(program), numbers["numbers"])
    put_params(module, params)
    plain = Plain(module, small.arguments)
    inputs = small.input_names()
    return lambda tensors: plain(*[tensors[name] for name in inputs])


def raw(tensor):
    return tensor.contiguous().view(-1).view(torch.uint8)


def changed_inputs(inputs, path, params):
    """Names of the tensors that the first call has written to: as much work whatever the number of calls is, so that a slope over
    them does not see it."""
    fresh, _ = tensors_of(path, False)

    def first(tensors, name):
        return raw(tensors[name] if name in params else tensors[name][0])

    return [name for name in inputs if inputs[name].numel() and not torch.equal(first(inputs, name), first(fresh, name))]


def answers(program):
    """Whether it is an answer. The task's own module may do what it likes: it is only timed."""
    with zipfile.ZipFile(program) as archive:
        return "class ModelNew" in archive.read("program.py").decode()


def flattened(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for one in value for tensor in flattened(one)]


def main():
    program = sys.argv[1]
    options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
    calls = int(options["--calls"])
    inputs, metadata = tensors_of(options["--inputs"], False)
    outputs, _ = tensors_of(options["--outputs"], True)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS") or 1))
    torch.set_grad_enabled(False)
    arguments = metadata["arguments"].split()
    params = {name: inputs[name] for name in arguments if name in metadata["params"].split()}
    call = make_call(program, params, [name for name in arguments if name not in outputs])
    start = time.perf_counter_ns()
    for number in range(calls):
        results = flattened(call({name: inputs[name][number] for name in arguments if name in inputs and name not in params}))
        if len(results) != len(outputs):
            sys.exit(f"runner: the module gives {len(results)} tensors, the task has {len(outputs)}")
        for result, name in zip(results, [name for name in arguments if name in outputs]):
            if type(result) not in (torch.Tensor, torch.nn.Parameter):
                sys.exit(f"runner: the module gives a {type(result).__name__}, not a plain tensor")
            if result.shape != outputs[name][number].shape:
                sys.exit(f"runner: {name} is {list(result.shape)} where {list(outputs[name][number].shape)} is right")
            outputs[name][number].copy_(result)
    changed = changed_inputs(inputs, options["--inputs"], params)
    if changed and answers(program):
        sys.exit(f"runner: forward changes its argument {changed[0]}, which its caller goes on using")
    print("call_ns", (time.perf_counter_ns() - start) // calls)  # shown beside KForge's own figure, never used


if __name__ == "__main__":
    main()

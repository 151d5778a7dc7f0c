"""torch.compile(module, backend="kforge"): whole graphs as verified kernels, the rest stays with PyTorch.

A graph becomes one task and one kernel where that works. Where PyTorch's exporter or KForge does not know an operator, or a
graph has more tensors than a kernel takes, it is cut: each piece gets a kernel of its own, and what nobody knows runs as it
is. Weights are params: a kernel prepares them once. taken_over() says what became of each graph.
"""

import logging

import torch
from torch.fx.passes.split_module import split_module

from . import module_task, optimizer, program
from .progress import Progress

MOST_TENSORS = 60  # of one kernel: the runner passes 64
LEAST_OPERATORS = 2  # a piece with fewer gains nothing by leaving PyTorch
DEFAULT_BUDGET = "20s"
log = logging.getLogger("kforge")
_graphs = []


def taken_over():
    """For each graph compiled in this process: {"operators", "taken", "kernels": [{"operators", "headline"}], "left":
    {operator: reason}}."""
    return list(_graphs)


class Values(torch.fx.Interpreter):
    """Runs a graph once and keeps what every node gave."""

    def __init__(self, graph_module):
        super().__init__(graph_module)
        self.seen = {}

    def run_node(self, node):
        self.seen[node] = super().run_node(node)
        return self.seen[node]


class Bound(torch.nn.Module):
    """A piece of a graph over the tensors that change; the fixed ones are its buffers, p0, p1, ..."""

    def __init__(self, piece, arguments, fixed):
        super().__init__()
        self.piece = piece
        self.fixed = fixed
        for number, (one, is_fixed) in enumerate(zip(arguments, fixed)):
            if is_fixed:
                self.register_buffer(f"p{number}", one.detach())
        self.train(False)

    def forward(self, *inputs):
        rest = iter(inputs)
        return self.piece(*[getattr(self, f"p{n}") if f else next(rest) for n, f in enumerate(self.fixed)])


class KernelCall(torch.nn.Module):
    """Stands in the graph where a piece was."""

    def __init__(self, piece, fixed, package):
        super().__init__()
        self.piece = piece
        runtime = package.runtime
        self.instance = runtime.Instance([], runtime._library.why_not(), (False, True))
        self.inputs = [n for n, is_fixed in enumerate(fixed) if not is_fixed]
        # "module_p3": the third argument.
        self.params = [int(one["name"].rsplit("p", 1)[1]) for one in runtime.MANIFEST["params"]]
        self.single = True

    def forward(self, *arguments):
        inputs = [arguments[n] for n in self.inputs]
        params = [arguments[n] for n in self.params]
        reason = self.instance.why_not(self, inputs, params)
        if reason is not None:
            self.instance.fell_back(reason)
            return self.piece(*arguments)
        outputs = self.instance.call(inputs, params)
        return outputs[0] if self.single else tuple(outputs)


def _is_operator(node):
    return node.op in ("call_function", "call_method", "call_module")


def _name(node):
    return str(getattr(node.target, "__name__", node.target))


def _tensors_in(value):
    return [one for one in torch.utils._pytree.tree_leaves(value) if isinstance(one, torch.Tensor)]


def _alone(node, seen):
    """A module of one node, and arguments for it."""
    graph, arguments, known = torch.fx.Graph(), [], {}

    def place(one):
        if one not in known:
            known[one] = graph.placeholder(f"x{len(known)}")
            arguments.append(seen[one])
        return known[one]

    result = graph.node_copy(node, place)
    graph.output(result)
    return torch.fx.GraphModule(torch.nn.Module(), graph), arguments


class Support:
    """Which operators can leave PyTorch: each kind is tried once."""

    def __init__(self, seen):
        self.seen = seen
        self.known = {}

    def why_not(self, node):
        value = self.seen.get(node)
        if not isinstance(value, torch.Tensor):
            return "its result is no tensor"
        used = [self.seen[one] for one in node.all_input_nodes]
        if not used or not all(isinstance(one, torch.Tensor) for one in used):
            return "its arguments are no tensors"
        key = (node.op, _name(node), repr(torch.fx.node.map_arg((node.args, dict(node.kwargs)), lambda _: None)),
               tuple((one.dtype, one.dim()) for one in used))  # fmt: skip
        if key not in self.known:
            self.known[key] = self._try(node)
        return self.known[key]

    def _try(self, node):
        try:
            module, arguments = _alone(node, self.seen)
            module_task.make_task(module, arguments, "operator")
        except Exception as error:
            return str(error)[:200]
        return None


def _pieces(graph_module, is_left, fixed_nodes, limit):
    """The number of each operator's piece. A run of operators that can be taken over is one piece, until it has too many
    tensors; what is left with PyTorch lies between them."""
    pieces, current, tensors, was_left = {}, 0, set(), None
    for node in graph_module.graph.nodes:
        if not _is_operator(node):
            continue
        left = is_left(node)
        used = {one for one in node.all_input_nodes if pieces.get(one) != current} | {node}
        if was_left is not None and (left != was_left or (not left and len(tensors | used) > limit)):
            current, tensors = current + 1, set()
        tensors |= {one for one in node.all_input_nodes if one in fixed_nodes or pieces.get(one) != current}
        pieces[node], was_left = current, left
    return pieces


def _changes_inputs(piece, arguments):
    """Whether it writes to what it is given: a kernel would not."""
    copies = [one.clone() if isinstance(one, torch.Tensor) else one for one in arguments]
    before = [one._version for one in _tensors_in(copies)]
    piece(*copies)
    return before != [one._version for one in _tensors_in(copies)]


def _take_over(piece, arguments, fixed, settings):
    """(KernelCall, report), or an error that says why not."""
    if not all(isinstance(one, torch.Tensor) for one in arguments):
        raise program.KForgeError("it takes values that are no tensors")
    if _changes_inputs(piece, arguments):
        raise program.KForgeError("it changes its inputs")
    want = piece(*[one.clone() for one in arguments])
    results = list(want) if isinstance(want, (tuple, list)) else [want]
    if not all(isinstance(one, torch.Tensor) for one in results):
        raise program.KForgeError("its results are no tensors")
    bound = Bound(piece, arguments, fixed)
    inputs = [one for one, is_fixed in zip(arguments, fixed) if not is_fixed]
    package, report = optimizer.kernel_for(bound, inputs, **settings)
    call = KernelCall(piece, fixed, package)
    if call.instance.unusable is not None:
        raise program.KForgeError(call.instance.unusable)
    call.single = not isinstance(want, (tuple, list))
    got = call(*arguments)
    got = [got] if call.single else list(got)
    if len(got) != len(results) or not all(optimizer.near(a, b) for a, b in zip(got, results)):
        raise program.KForgeError("the kernel differs from the piece on the example")
    return call, report


def _budget_of_each(budget, pieces):
    """Seconds are shared; other limits hold for each piece."""
    parts = []
    for part in budget.split(","):
        seconds = part.strip()[:-1] if part.strip().endswith("s") else ""
        parts.append(f"{max(1.0, float(seconds) / pieces):g}s" if seconds.replace(".", "").isdigit() else part)
    return ",".join(parts)


def _replace(graph_module, seen_arguments, fixed_arguments, operators, settings, record):
    """Puts kernels into the pieces of a split graph."""
    todo = {name: count for name, count in operators.items() if count >= LEAST_OPERATORS}
    settings = dict(settings, budget=_budget_of_each(settings["budget"], max(1, len(todo))))
    for name, count in todo.items():
        try:
            call, report = _take_over(getattr(graph_module, name), seen_arguments[name], fixed_arguments[name], settings)
        except Exception as error:
            record["left"][name] = str(error)[:300]
            continue
        setattr(graph_module, name, call)
        record["kernels"].append({"operators": count, "headline": report["headline"], "run": report["run"]})
        record["taken"] += count


def _split(graph_module, example_inputs, fixed_nodes, is_left):
    pieces = _pieces(graph_module, is_left, fixed_nodes, MOST_TENSORS)
    whole = split_module(graph_module, graph_module, lambda node: pieces.get(node, 0))
    left = {f"submod_{number}" for node, number in pieces.items() if is_left(node)}
    operators = {}
    for number in pieces.values():
        operators[f"submod_{number}"] = operators.get(f"submod_{number}", 0) + 1
    fixed_names = {node.name for node in fixed_nodes}
    runner = Values(whole)
    runner.run(*example_inputs)
    arguments, fixed = {}, {}
    for node in whole.graph.nodes:
        if node.op == "call_module":
            arguments[node.target] = [runner.seen.get(one, one) if isinstance(one, torch.fx.Node) else one for one in node.args]
            fixed[node.target] = [isinstance(one, torch.fx.Node) and one.op == "placeholder" and one.name in fixed_names
                                  for one in node.args]  # fmt: skip
    return whole, arguments, fixed, {name: count for name, count in operators.items() if name not in left}


def kforge(graph_module, example_inputs, **options):
    """The backend. Options of torch.compile(options={...}): budget, on, precision, progress, options (words for `kforge forge`)."""
    settings = {"budget": DEFAULT_BUDGET, "on": "cpu", "precision": "fp32", "options": ()}
    settings.update(options.get("options") or {})
    shown = Progress(settings.pop("progress", None))
    settings["progress"] = shown
    operators = [node for node in graph_module.graph.nodes if _is_operator(node)]
    record = {"operators": len(operators), "taken": 0, "kernels": [], "left": {}}
    _graphs.append(record)
    if torch.is_grad_enabled() and any(isinstance(one, torch.Tensor) and one.requires_grad for one in example_inputs):
        record["left"]["graph"] = "gradients are wanted: compile and call it under torch.no_grad()"
    elif not all(isinstance(one, torch.Tensor) for one in example_inputs):
        record["left"]["graph"] = "its sizes are symbolic: torch.compile(..., dynamic=False)"
    if record["left"]:
        return _said(record, shown, graph_module.forward)
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        copies = [one.detach().clone() for one in example_inputs]
        values = Values(graph_module)
        values.run(*copies)
        placeholders = [node for node in graph_module.graph.nodes if node.op == "placeholder"]
        fixed_nodes = {
            node
            for node, one in zip(placeholders, example_inputs)
            if isinstance(one, torch.nn.Parameter) or getattr(one, "_dynamo_static_input_type", None)
        }
        support = Support(values.seen)
        # The whole graph first: asking for each operator costs an export.
        split = _split(graph_module, example_inputs, fixed_nodes, lambda node: False)
        if not _exports(split):
            reasons = {node: support.why_not(node) for node in operators}
            record["left"] = {_name(node): reason for node, reason in reasons.items() if reason}
            split = _split(graph_module, example_inputs, fixed_nodes, lambda node: reasons[node] is not None)
        whole, arguments, fixed, counts = split
        _replace(whole, arguments, fixed, counts, settings, record)
    return _said(record, shown, whole.forward)


def _exports(split):
    """Whether every piece becomes a task as it is."""
    whole, arguments, fixed, counts = split
    for name in counts:
        inputs = [one for one, is_fixed in zip(arguments[name], fixed[name]) if not is_fixed]
        try:
            module_task.make_task(Bound(getattr(whole, name), arguments[name], fixed[name]), inputs, "bound")
        except Exception:
            return False
    return True


def _said(record, shown, forward):
    text = f"kforge took over {record['taken']} of {record['operators']} operators in {len(record['kernels'])} kernels"
    if record["left"]:
        text += "; left with PyTorch: " + ", ".join(f"{name} ({reason})" for name, reason in record["left"].items())
    log.info("%s", text)
    if shown.shown:
        program.say(text)
    return forward

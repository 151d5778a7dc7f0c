"""The user's file as a program whose numbers can be set.

A number is a name at the top of the file that is given a literal: `batch_size = 64`, `N = 2048 * 2`,
`height, width = 32, 32`; of a tuple `input_shape = (512, 8)` each element is one: `input_shape_0`, `input_shape_1`.
Setting one changes the file before it runs, so that whatever the file computes from it follows.
"""

import ast
import operator
import types

OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}  # fmt: skip
LARGEST = 1 << 40


def literal_int(node):
    """The value of an expression of whole numbers, else None."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = literal_int(node.left), literal_int(node.right)
        if left is None or right is None or (isinstance(node.op, ast.Pow) and not 0 <= right <= 40):
            return None
        if isinstance(node.op, ast.FloorDiv) and right == 0:
            return None
        value = OPERATORS[type(node.op)](left, right)
        return value if abs(value) <= LARGEST else None
    return None


def places_of(statement):
    """(name, parent, field, index) for every number that a statement at the top of the file sets."""
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
        return [(statement.target.id, statement, "value", None)]
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target, value = statement.targets[0], statement.value
    is_list = isinstance(value, (ast.Tuple, ast.List))
    if isinstance(target, ast.Name) and not is_list:
        return [(target.id, statement, "value", None)]
    if isinstance(target, ast.Name):
        return [(f"{target.id}_{i}", value, "elts", i) for i in range(len(value.elts))]
    if isinstance(target, ast.Tuple) and is_list and len(target.elts) == len(value.elts):
        return [
            (name.id, value, "elts", i) for i, name in enumerate(target.elts) if isinstance(name, ast.Name)
        ]
    return []


class Source:
    def __init__(self, path, text=None):
        self.path = path
        self.text = text
        if text is None:
            with open(path, encoding="utf-8") as file:
                self.text = file.read()
        self.constants = {}
        again = set()
        for name, parent, field, index in self._places(ast.parse(self.text, path)):
            value = literal_int(getattr(parent, field) if index is None else getattr(parent, field)[index])
            if value is None:
                continue
            if name in self.constants:
                again.add(name)  # given twice: which one counts depends on the order
            self.constants[name] = value
        for name in again:
            del self.constants[name]

    def _places(self, tree):
        for statement in tree.body:
            yield from places_of(statement)

    def module(self, values):
        """The file, run with these numbers. Each call is a fresh module."""
        for name in values:
            if name not in self.constants:
                known = ", ".join(self.constants) or "none"
                raise KeyError(f"the file sets no whole number '{name}'; it sets: {known}")
        tree = ast.parse(self.text, self.path)
        for name, parent, field, index in self._places(tree):
            if name not in values or name not in self.constants:
                continue
            old = getattr(parent, field) if index is None else getattr(parent, field)[index]
            new = ast.copy_location(ast.Constant(values[name]), old)
            if index is None:
                setattr(parent, field, new)
            else:
                getattr(parent, field)[index] = new
        module = types.ModuleType("kforge_source")
        module.__file__ = self.path
        exec(compile(tree, self.path, "exec"), module.__dict__)  # noqa: S102
        for name in ("Model", "get_inputs"):
            if not callable(getattr(module, name, None)):
                raise AttributeError(
                    f"the file defines no {name}: it must have Model, get_inputs and get_init_inputs"
                )
        return module

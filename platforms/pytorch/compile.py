"""Makes an answer ready to run: compile.py SOURCE OUTPUT.

OUTPUT is a zip archive: program.py, and under extensions/ what `load_inline` or `load` of torch.utils.cpp_extension compiled.
Every run of an answer is a process of its own, and a compiler takes longer than a call may: so the file is run here once, and what
it compiles, while it is loaded or while ModelNew is built, is kept for all runs.
"""
import ast
import importlib.util
import os
import sys
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# Without one of these words there is nothing to compile, and PyTorch need not be started.
COMPILING = ("cpp_extension", "load_inline")


# What an answer may need that no PyTorch brings with it, and what to know about it.
REMEDIES = {
    "triton": "Triton's interpreter runs such answers: pip install triton torch numpy into a virtual environment, and name its Python with --python"
}


def imported_packages(tree):
    """(line, package) of what the file imports whatever happens: what stands inside a `try` or a function has another way out."""
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            for name in statement.names:
                yield statement.lineno, name.name.split(".")[0]
        elif isinstance(statement, ast.ImportFrom) and statement.level == 0:
            yield statement.lineno, statement.module.split(".")[0]


def check_packages(source, tree):
    for line, package in imported_packages(tree):
        try:
            found = package in sys.modules or importlib.util.find_spec(package) is not None
        except (ImportError, ValueError):
            found = False
        if not found:
            remedy = REMEDIES.get(package, f"pip install {package} for it, or name a Python that has it with --python")
            sys.exit(f"{source}:{line}: error: {sys.executable} has no package {package}; {remedy}")


def compiled_extensions(source, text):
    """Paths of the libraries that the program compiles, by the extension's name."""
    os.environ.update(HOME=os.getcwd(), CCACHE_DISABLE="1", MAX_JOBS="2")  # there is no other folder to write to
    import torch
    from torch.utils import cpp_extension

    made = {}
    failures = []

    def keeping(real):
        def build(name, *arguments, **options):
            folder = os.path.abspath(f"extension_{len(made)}")
            os.makedirs(folder, exist_ok=True)
            options.update(build_directory=folder, verbose=False)
            try:
                module = real(name, *arguments, **options)
            except Exception as error:
                failures.append(error)
                raise
            made[name] = os.path.join(folder, name + ".so")
            return module

        return build

    cpp_extension.load_inline = keeping(cpp_extension.load_inline)
    cpp_extension.load = keeping(cpp_extension.load)
    torch.set_num_threads(1)
    namespace = {"__name__": "program", "__file__": source}
    problem = None
    try:
        exec(compile(text, source, "exec"), namespace)
        if not made and "ModelNew" in namespace:
            build_answer(namespace["ModelNew"])
    except Exception as error:
        problem = error
    # One that catches the failure of its compiler and goes on without a kernel is no answer either.
    if failures:
        sys.exit(f"{source}: error: the extension does not compile\n{failures[0]}")
    if problem and not made:
        sys.exit(f"{source}: error: {type(problem).__name__}: {problem}")
    return made


def build_answer(model):
    from runner import answer_of, module_numbers

    answer_of(model, module_numbers()["small"])


def main():
    source, output = sys.argv[1:3]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    tree = ast.parse(text, source)
    compile(tree, source, "exec")  # a mistake in it is told before anything is started
    check_packages(source, tree)
    extensions = compiled_extensions(source, text) if any(word in text for word in COMPILING) else {}
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("program.py", text)
        for name, library in extensions.items():
            archive.write(library, f"extensions/{name}.so")


if __name__ == "__main__":
    main()

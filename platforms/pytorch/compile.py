"""Makes an answer ready to run: compile.py SOURCE OUTPUT.

OUTPUT is a zip archive: program.py, and under extensions/ what `load_inline` or `load` of torch.utils.cpp_extension compiled.
Every run of an answer is a process of its own, and a compiler takes longer than a call may: so the file is run here once, and what
it compiles, while it is loaded or while ModelNew is built, is kept for all runs.
"""
import os
import sys
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# Without one of these words there is nothing to compile, and PyTorch need not be started.
COMPILING = ("cpp_extension", "load_inline")


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
    compile(text, source, "exec")  # a mistake in it is told before anything is started
    extensions = compiled_extensions(source, text) if any(word in text for word in COMPILING) else {}
    with zipfile.ZipFile(output, "w") as archive:
        archive.writestr("program.py", text)
        for name, library in extensions.items():
            archive.write(library, f"extensions/{name}.so")


if __name__ == "__main__":
    main()

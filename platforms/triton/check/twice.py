# The work of the example twice in every call: a clock must see it.
# kforge: tune BLOCK=256
import task
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x, y, D, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * D
    columns = tl.arange(0, BLOCK)
    largest = -float("inf")
    total = 0.0
    for start in range(0, D, BLOCK):
        inside = start + columns < D
        values = tl.load(x + row + start + columns, mask=inside, other=-float("inf"))
        higher = tl.maximum(largest, tl.max(values, axis=0))
        # What was added up so far was relative to a smaller element.
        total = total * tl.exp(largest - higher) + tl.sum(tl.exp(values - higher), axis=0)
        largest = higher
    for start in range(0, D, BLOCK):
        inside = start + columns < D
        values = tl.load(x + row + start + columns, mask=inside, other=-float("inf"))
        tl.store(y + row + start + columns, tl.exp(values - largest) / total, mask=inside)


def kernel(x, y):
    for _ in range(2):
        softmax_rows[(task.B,)](x, y, task.D, BLOCK=task.BLOCK)

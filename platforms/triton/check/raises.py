# Ends with an exception.
# expect: outcome=crash


def kernel(x, y):
    raise RuntimeError("no")

"""`kforge serve` for a while."""

import re
import subprocess


class Served:
    """On a free port: its address, its token, and the link that lets a browser in."""

    def __init__(self, kforge, *options, **settings):
        self.process = subprocess.Popen(
            [kforge, "serve", "--port", "0", *options], stdout=subprocess.PIPE, text=True, **settings
        )
        said = "".join(self.process.stdout.readline() for _ in range(2))
        self.address = re.search(r"http://[0-9.]+:\d+", said)[0]
        self.login = re.search(r"http://\S+token=\w+", said)[0]
        self.token = self.login.rsplit("=", 1)[1]

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.process.terminate()
        self.process.wait(60)

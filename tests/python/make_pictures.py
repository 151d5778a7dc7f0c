"""Pictures for the documentation: the page of a run at work and its report, from a search made for them.

    make_pictures.py KFORGE FOLDER
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

import browser
from served import Served

TASK, SECONDS, ATTEMPTS = "core/softmax", "40s", 6


def main(kforge, folder):
    folder = pathlib.Path(folder)
    with tempfile.TemporaryDirectory(prefix="kforge-pictures-") as place:
        os.environ["KFORGE_HOME"] = os.path.join(place, "home")
        out = pathlib.Path(place) / "run"
        words = [kforge, "forge", TASK, "--budget", SECONDS, "--out", out, "--quiet"]
        with Served(kforge, cwd=place) as server, browser.Browser() as here, subprocess.Popen(words) as search:
            here.look(1100, "light", 915)  # headline and contenders, no paths of the machine
            here.driver.get(at_work(here, server, search))
            here.screenshot(folder / "live_page.png", whole=False)
            here.driver.get("about:blank")  # a browser that draws takes a processor
            search.wait()  # exit code 1: nothing was faster, which is worth a picture too
            here.driver.get((out / "report.html").as_uri())
            here.screenshot(folder / "report.png", whole=False)


def at_work(here, server, search):
    """The address of the run's page, once it has something to show."""
    address = ""
    while search.poll() is None:
        here.driver.get(address or server.address + "/runs")
        if not address:
            address = here.script("const a = document.querySelector('main td a[href*=\"/runs/\"]'); return a ? a.href : ''")
        elif here.script("return document.querySelectorAll('#run-search tbody tr').length") >= ATTEMPTS:
            break
        time.sleep(0.5)
    return address


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

"""Pictures for the documentation: the page of a run and its report, from a search made for them.

    make_pictures.py KFORGE FOLDER
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import browser
from served import Served

TASK, SECONDS = "core/softmax", "40s"


def main(kforge, folder):
    folder = pathlib.Path(folder)
    with tempfile.TemporaryDirectory(prefix="kforge-pictures-") as place:
        os.environ["KFORGE_HOME"] = os.path.join(place, "home")
        out = pathlib.Path(place) / "run"
        # Exit code 1: nothing was faster, which is worth a picture too.
        subprocess.run([kforge, "forge", TASK, "--budget", SECONDS, "--out", out, "--quiet"], check=False)
        with Served(kforge, cwd=place) as server, browser.Browser() as here:
            here.look(1100, "light", 915)  # headline and contenders, no paths of the machine
            here.driver.get(server.address + "/runs")
            here.driver.get(here.script("return document.querySelector('main a[href*=\"/runs/\"]').href"))
            here.screenshot(folder / "live_page.png", whole=False)
            here.driver.get((out / "report.html").as_uri())
            here.screenshot(folder / "report.png", whole=False)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

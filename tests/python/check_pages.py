"""The pages of `kforge serve` in a real browser: every page, light and dark, narrow and wide; a run that updates itself,
a form that starts one, the keyboard alone; nothing to complain about in the console, nothing serious for axe.

    check_pages.py KFORGE FOLDER-FOR-SCREENSHOTS
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import axe_core_python
import browser
from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from served import Served

AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
LOOKS = [(400, "dark", True), (400, "light", False), (1400, "light", True), (1400, "dark", False)]  # the last: by axe too
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KERNEL = """// <script>alert("kernel")</script>
#include "task.h"
extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : %s;
}
"""


def wait_until(holds, what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = holds()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(what)


def fill_store(kforge, folder):
    """Two results, a run and a suite: something to show."""
    quick = ["core/relu", "--shapes", "small", "--baseline", "none", "--json"]
    results = []
    for name, otherwise in (("right.cc", "0"), ("wrong.cc", "1")):
        file = folder / name
        file.write_text(KERNEL % otherwise, encoding="utf-8")
        done = subprocess.run([kforge, "eval", *quick, "--rounds", "5", "--kernel", file], capture_output=True, check=False)
        results.append(json.loads(done.stdout)["id"])
    run = subprocess.run(
        [kforge, "forge", *quick, "--attempts", "2", "--out", folder / "run"], capture_output=True, check=True
    )
    tasks, kernels = folder / "tasks", folder / "kernels"
    for name in ("relu", "gelu"):
        shutil.copytree(ROOT / "tasks/core" / name, tasks / "level1" / name)
    (kernels / "level1").mkdir(parents=True)
    (kernels / "level1/relu.cc").write_text(KERNEL % "0", encoding="utf-8")
    suite = subprocess.run(
        [kforge, "suite", tasks, "--kernels", kernels, "--shapes", "small", "--baseline", "onednn", "--json"]
        + ["--seconds", "0.2", "--out", folder / "suite"],
        capture_output=True,
        check=False,
    )
    return results, json.loads(run.stdout)["run"], json.loads(suite.stdout)["suite"]


def check_page(here, address, shots):
    """One page in every look."""
    name = address.split("//", 1)[1].split("/", 1)[1].split("?")[0].replace("/", "-") or "home"
    for width, scheme, by_axe in LOOKS:
        here.look(width, scheme)
        here.driver.get(address)
        wide = here.script("return [document.documentElement.scrollWidth, window.innerWidth]")
        here.screenshot(shots / f"{name}-{width}-{scheme}.png")
        assert wide[0] <= wide[1], f"{address} at {width}: {wide[0]} pixels wide"
        assert here.script("return document.title").strip(), f"{address} has no title"
        complaints = here.complaints()
        assert not complaints, f"{address} at {width}, {scheme}: {complaints}"
        if by_axe:
            check_by_axe(here, address)


def check_by_axe(here, address):
    here.script(AXE)
    found = here.driver.execute_async_script(
        "const done = arguments[0]; axe.run({resultTypes: ['violations']}).then(r => done(r.violations))"
    )
    serious = [
        (one["id"], one["impact"], [node["html"][:120] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert not serious, f"{address}: {json.dumps(serious, indent=1)}"


def pages_of(here, address):
    """What the menu leads to."""
    here.driver.get(address)
    links = here.script("return [...document.querySelectorAll('nav a')].map(a => a.href)")
    return [link for link in dict.fromkeys(links) if link.startswith(address)]


def check_keyboard(here, address):
    """Whatever can be clicked can be reached with Tab, and one sees where one is."""
    here.look(1400, "light")
    here.driver.get(address)
    wanted = here.script(
        "return [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary, textarea')]"
        ".filter(e => e.getClientRects().length && !e.disabled && e.tabIndex >= 0).length"
    )
    reached = set()
    for _ in range(min(wanted, 40)):
        here.driver.switch_to.active_element.send_keys(Keys.TAB)
        where = here.driver.switch_to.active_element
        reached.add(where.id)
        seen = here.script(
            "const s = getComputedStyle(arguments[0]); return s.outlineStyle != 'none' || s.boxShadow != 'none'", where
        )
        assert seen, f"{address}: no focus to be seen on {where.get_attribute('outerHTML')[:120]}"
    assert len(reached) >= min(wanted, 40), f"{address}: {len(reached)} of {wanted} things reached with Tab"


def tab_to(here, name):
    """Presses Tab until the field of this name has the focus."""
    for _ in range(60):
        here.driver.switch_to.active_element.send_keys(Keys.TAB)
        field = here.driver.switch_to.active_element
        if field.get_attribute("name") == name:
            return field
    raise AssertionError(f"{name} cannot be reached with Tab")


def answered(here):
    try:
        here.driver.switch_to.alert.accept()
        return True
    except NoAlertPresentException:
        return False


def check_form_and_live_run(here, server, shots):
    """A search started from the form by keyboard alone; its page changes by itself, without being loaded again."""
    here.look(1400, "light")
    here.driver.get(server.address + "/start")
    for name, value in (("task", "core/relu"), ("shapes", "small"), ("baseline", "none"), ("budget_s", "20")):
        field = tab_to(here, name)
        field.send_keys(Keys.CONTROL + "a")
        field.send_keys(value)
    here.screenshot(shots / "form-1400-light.png")
    here.driver.switch_to.active_element.send_keys(Keys.ENTER)
    place = lambda: here.driver.current_url.removeprefix(server.address)
    wait_until(lambda: place().startswith(("/jobs/", "/runs/")), f"nothing was started: {place()}")
    # From the page of the job to that of its run, by itself.
    wait_until(lambda: place().startswith("/runs/"), f"the run has no page: {place()}")
    here.script("window.loadedOnce = true")
    live = lambda: here.script("const e = document.querySelector('[data-events]'); return e ? e.innerText : ''")
    seen = {live()}
    wait_until(lambda: seen.add(live()) or len(seen) > 2, f"the page of a run does not change: {seen}")
    assert here.script("return window.loadedOnce === true"), "the page was loaded again"
    here.screenshot(shots / "live-1400-light.png")
    # Stopped by keyboard too, after a question; at its end the page loads itself once more, whole.
    here.driver.find_element(By.CSS_SELECTOR, "form[action$='/stop'] button").send_keys(Keys.ENTER)
    wait_until(lambda: answered(here), "nobody asked whether to stop")
    wait_until(lambda: not here.script("return document.querySelector('[data-events]')"), "the run did not end", 120)


def check_stopping_another(here, server, kforge, shots):
    """A search that was started from another terminal is stopped from its page, with the best so far."""
    folder = pathlib.Path(os.getcwd()) / "elsewhere"
    # A product has designs enough not to run out of them before it is stopped.
    words = ["core/matmul", "--shapes", "small", "--baseline", "none", "--budget", "300s", "--json", "--out", folder]
    with subprocess.Popen([kforge, "forge", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as search:
        here.driver.get(server.address + "/runs?state=running")
        newest = "const a = document.querySelector('td a[href^=\"/runs/\"]'); return a && a.href"
        run = wait_until(lambda: here.driver.refresh() or here.script(newest), "the run is not listed")
        here.driver.get(run)
        judged = "const e = document.querySelector('#run-live'); return e && !e.innerText.includes('nothing verified')"
        wait_until(lambda: here.script(judged), "nothing was verified", 120)
        here.screenshot(shots / "elsewhere-1400-light.png")
        here.driver.find_element(By.CSS_SELECTOR, "form[action$='/stop'] button").send_keys(Keys.ENTER)
        wait_until(lambda: answered(here), "nobody asked whether to stop")
        report = json.loads(search.communicate(timeout=120)[0])
    assert report["ended"] == "interrupted" and report["kernel_path"], report["headline"]
    wait_until(lambda: not here.script("return document.querySelector('[data-events]')"), "the page does not end")


def main(kforge, shots):
    shots = pathlib.Path(shots)
    shots.mkdir(parents=True, exist_ok=True)
    results, run, suite = fill_store(kforge, pathlib.Path(os.getcwd()))
    with Served(kforge) as server, browser.Browser() as here:
        here.driver.get(server.login)
        pages = pages_of(here, server.address)
        assert len(pages) >= 3, pages
        pages += [f"{server.address}/results/{one}" for one in results]
        pages += [server.address + one for one in ("/", "/start", "/tasks/core/relu", f"/runs/{run}", f"/suites/{suite}")]
        pages.append(f"{server.address}/compare?a={results[0]}&b={results[1]}")
        assert suite in here.script("return fetch('/suites.json').then(r => r.text())"), "the list has the suite"
        for page in pages:
            check_page(here, page, shots)
        check_keyboard(here, server.address + "/results")
        check_form_and_live_run(here, server, shots)
        check_stopping_another(here, server, kforge, shots)
        assert not here.complaints(), here.complaints()
    print(f"pages ok: {len(pages)}")


if __name__ == "__main__":
    if browser.missing():
        print("skipped:", *browser.missing(), "missing: scripts/setup.sh platforms")
        sys.exit(77)
    main(sys.argv[1], sys.argv[2])

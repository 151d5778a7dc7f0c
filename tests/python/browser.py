"""A headless Chromium through WebDriver, at a width and in a colour scheme."""

import base64
import os
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"


def missing():
    """What is not there; empty: nothing."""
    return [program for program in (CHROMIUM, DRIVER) if not os.access(program, os.X_OK)]


class Browser:
    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="kforge-browser-")
        options = Options()
        options.binary_location = CHROMIUM
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
            options.add_argument(word)
        options.add_argument(f"--user-data-dir={self.profile.name}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.set_page_load_timeout(60)
        self.driver.set_script_timeout(60)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.driver.quit()
        self.profile.cleanup()

    def look(self, width, scheme, height=900):
        """How wide the screen is, and whether its user likes it light or dark."""
        command = self.driver.execute_cdp_cmd
        mobile = width < 700
        command(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile},
        )
        command("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def screenshot(self, file, whole=True):
        got = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole})
        with open(file, "wb") as out:
            out.write(base64.b64decode(got["data"]))

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def complaints(self):
        """Errors and warnings of the console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

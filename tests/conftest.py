"""What every test may rely on."""

from __future__ import annotations

import os
import sysconfig

# nbgrader starts programs of its environment by name; that environment need not be activated to run the tests.
os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])

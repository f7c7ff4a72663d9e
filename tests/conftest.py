"""What every test may rely on."""

from __future__ import annotations

import os
import sysconfig

from hypothesis import settings

# nbgrader starts programs of its environment by name; that environment need not be activated to run the tests.
os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])

settings.register_profile("course", deadline=None)  # how fast something is depends on what else the machine does
settings.load_profile("course")

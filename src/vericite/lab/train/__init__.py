"""Training of the models that VeriCite ships."""

import os

# Set before torch is imported. Otherwise its threads spin while they wait for one another, and a step takes 4 times
# as long where another program uses their core.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

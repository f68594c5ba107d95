"""Making the models that VeriCite ships."""

import os

# Before torch comes in: its threads else spin while they wait for one another, and where another program
# has the core they wait for, a step takes 4 times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

"""Heat on a plate with mpi4py: rows of halos, a maximum over all and an object for all in each step. `heat.py [ROWS_OF_A_PROCESS [STEPS]]`"""

import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rows, steps = ([int(text) for text in sys.argv[1:]] + [400, 60][len(sys.argv) - 1 :])[:2]
plate = np.zeros((rows + 2, 800))
plate[0] = 1.0 if world.rank == 0 else 0.0
up = world.rank - 1 if world.rank else MPI.PROC_NULL
down = world.rank + 1 if world.rank + 1 < world.size else MPI.PROC_NULL
for step in range(steps):
    world.Sendrecv(plate[1], up, 0, plate[-1], down, 0)
    world.Sendrecv(plate[-2], down, 0, plate[0], up, 0)
    sides = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
    change = float(np.abs(0.25 * sides - plate[1:-1, 1:-1]).max())
    plate[1:-1, 1:-1] = 0.25 * sides
    change = world.allreduce(change, MPI.MAX)
    state = world.bcast({"step": step, "change": change} if world.rank == 0 else None)

0 0.75
10 half

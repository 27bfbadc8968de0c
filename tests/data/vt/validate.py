"""Validates load-balancing data with vt's own schema.

Usage: python3 validate.py LBDatafile_schema.py FILE.json...   (the schema stands in `scripts/` of DARMA/vt; needs the packages `schema` and `brotli`)
"""
import json
import runpy
import sys

import brotli

schema = runpy.run_path(sys.argv[1])["LBDatafile_schema"]
for name in sys.argv[2:]:
    data = open(name, "rb").read()
    if not data.lstrip().startswith(b"{"):
        data = brotli.decompress(data)
    schema.validate(json.loads(data))
print(f"{len(sys.argv) - 2} files are valid")

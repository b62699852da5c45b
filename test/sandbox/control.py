"""Runs an attack outside of every sandbox, by the same means: what it reaches here it must not reach inside.

Arguments: the program's text, and the target as JSON. Prints what the program returned, or the error that it ended with.
"""

import asyncio
import json
import sys


class Tools:
    async def target(self):
        return json.loads(sys.argv[2])


lines = "\n".join("    " + line for line in sys.argv[1].split("\n"))
names = {"tools": Tools()}
exec(f"async def body():\n{lines}\n", names)
try:
    print(json.dumps(asyncio.run(names["body"]())))
except BaseException as error:
    print(json.dumps(f"{type(error).__name__}: {error}"))

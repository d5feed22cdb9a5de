"""Greets whoever is named on the command line."""

import sys


def greeting(name: str) -> str:
    return f"Hello, {name}!"


if __name__ == "__main__":
    for name in sys.argv[1:] or ["world"]:
        print(greeting(name))

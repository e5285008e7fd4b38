"""The compiled half; what is public of it is in __init__.pyi."""

from typing import Any

def __getattr__(name: str) -> Any: ...

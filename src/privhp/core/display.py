"""Registry of renderers, by name.

Plans and generators show themselves in notebooks and as figures without
importing the code that draws: the package root registers each renderer as
"module:function", which is imported when it is first called.
"""

from collections.abc import Mapping
from typing import Any

_RENDERERS: dict[str, str] = {}


def register_renderers(renderers: Mapping[str, str]) -> None:
    """Register renderers by name, each as "module:function"."""
    _RENDERERS.update(renderers)


def render(name: str, obj: Any) -> Any:
    """Result of a registered renderer for an object."""
    from importlib import import_module

    module, function = _RENDERERS[name].split(":")
    return getattr(import_module(module), function)(obj)

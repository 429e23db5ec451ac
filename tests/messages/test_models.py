"""A model is built when it is first used, so an error in its definition would be found only then."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

from pydantic import BaseModel

from punto import controller


def models(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for each in base.__subclasses__():
        yield each
        yield from models(each)


def test_every_model_of_the_service_can_be_built():
    for module in walk_packages(controller.__path__, "punto.controller."):
        import_module(module.name)

    for model in models(BaseModel):
        if model.__module__.startswith("punto.controller."):
            model.model_rebuild()

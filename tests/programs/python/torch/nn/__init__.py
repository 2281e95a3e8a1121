from . import functional
from .modules.module import Module, ModuleList, Sequential

"""The chain of calls from a module to its forward, and where a module keeps the modules in it."""


class Module:

    def __init__(self):
        # As PyTorch does, around its own __setattr__.
        super().__setattr__("training", True)
        super().__setattr__("_parameters", {})
        super().__setattr__("_modules", {})
        super().__setattr__("_forward_hooks", {})
        super().__setattr__("_compiled_call_impl", None)

    def __setattr__(self, name, value):
        modules = self.__dict__.get("_modules")
        if isinstance(value, Module):
            modules[name] = value
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name):
        modules = self.__dict__["_modules"]
        if name in modules:
            return modules[name]
        raise AttributeError(name)

    def add_module(self, name, module):
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(name)
        self._modules[name] = module

    def register_forward_hook(self, hook):
        self._forward_hooks[len(self._forward_hooks)] = hook

    def _wrapped_call_impl(self, *args, **kwargs):
        if self._compiled_call_impl is not None:
            return self._compiled_call_impl(*args, **kwargs)
        return self._call_impl(*args, **kwargs)

    def _call_impl(self, *args, **kwargs):
        forward_call = self.forward
        if not self._forward_hooks:
            return forward_call(*args, **kwargs)
        result = None

        # What it uses of the function around it is in cells there, the module among it.
        def inner():
            nonlocal result, args, kwargs
            result = forward_call(*args, **kwargs)
            for hook in self._forward_hooks.values():
                hook(self, args, result)
            return result

        return inner()

    __call__ = _wrapped_call_impl


class Sequential(Module):

    def __init__(self, *modules):
        super().__init__()
        for index, module in enumerate(modules):
            self.add_module(str(index), module)

    def forward(self, value):
        for module in self._modules.values():
            value = module(value)
        return value


class ModuleList(Module):
    """Never called itself, so no frame is its."""

    def __init__(self, modules):
        super().__init__()
        for index, module in enumerate(modules):
            self.add_module(str(index), module)

    def __iter__(self):
        return iter(self._modules.values())

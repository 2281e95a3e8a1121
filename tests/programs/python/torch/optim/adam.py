from torch.nn import functional


class Adam:

    def step(self):
        functional.launch("adam")

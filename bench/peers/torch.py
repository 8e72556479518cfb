"""PyTorch in eager mode on CUDA, where there is a GPU; f32 without TF32."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bench.cases import Array, Case
from bench.peers import Unavailable

Function = Callable[..., Any]


def _functions(torch: Any) -> dict[str, Function]:
    """What computes the cases of a family."""
    nn = torch.nn.functional

    def conv(x: Any, w: Any) -> Any:
        y = nn.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1))
        return y.permute(0, 2, 3, 1)

    def depthwise(x: Any, w: Any) -> Any:
        kernel = w.permute(2, 0, 1).unsqueeze(1)
        return nn.conv2d(x.permute(0, 3, 1, 2), kernel, groups=w.shape[2]).permute(0, 2, 3, 1)

    return {
        "matmul": torch.matmul,
        "conv": conv,
        "depthwise": depthwise,
        "softmax": lambda x: torch.softmax(x, -1),
        "layer_norm": lambda x, scale, shift: nn.layer_norm(x, scale.shape, scale, shift, 1e-5),
        "gelu": nn.gelu,
        "sum_1": lambda x: x.sum(1),
        "sum_0": lambda x: x.sum(0),
        "transpose": lambda x: x.t().contiguous(),
        "attention": nn.scaled_dot_product_attention,
        "scale": lambda x: x * 2,
    }


class TorchCall:
    """A function on tensors that are on the GPU."""

    dispatches = None

    def __init__(self, torch: Any, function: Function, inputs: Sequence[Array]) -> None:
        self._torch, self._function = torch, function
        self._inputs = [torch.from_numpy(array).cuda() for array in inputs]
        self._result: Any = None

    def run(self) -> None:
        self._result = self._function(*self._inputs)
        self._torch.cuda.synchronize()

    def results(self) -> list[Array]:
        return [self._result.float().cpu().numpy()]

    def kernel_seconds(self) -> float | None:
        start, end = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        self._function(*self._inputs)
        end.record()
        self._torch.cuda.synchronize()
        return start.elapsed_time(end) * 1e-3


class Torch:
    """The package `torch`."""

    name = "torch"

    def __init__(self) -> None:
        """Raises `Unavailable`."""
        try:
            import torch
        except ImportError:
            raise Unavailable("torch is not installed") from None
        if not torch.cuda.is_available():
            raise Unavailable("torch sees no CUDA device")
        torch.backends.cudnn.allow_tf32 = False
        self._torch: Any = torch
        self._functions = _functions(torch)
        self.description = f"torch {torch.__version__}, {torch.cuda.get_device_name()}"

    def prepare(self, case: Case, inputs: Sequence[Array]) -> TorchCall:
        if case.family not in self._functions:
            raise Unavailable(f"no PyTorch function stands for {case.family}")
        return TorchCall(self._torch, self._functions[case.family], inputs)

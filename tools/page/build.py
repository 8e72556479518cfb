"""From a bundle, and its history where that is known, to the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ingot.targets.bundle import model
from ingot.targets.profiles import PROFILES
from ingot.tools.bundle_text import parameter_name, spell
from ingot.tools.page.charts import COLORS, MemoryChart, memory_chart, roofline
from ingot.tools.page.dataflow import Node, nodes_of
from ingot.tools.page.graph import Drawing, Words, draw
from ingot.tools.page.highlight import runs
from ingot.tools.page.lifetimes import lifetimes
from ingot.tools.page.panes import kernel_panes, shortened
from ingot.tools.units import scaled, size_text, time_text

if TYPE_CHECKING:
    from ingot.compiler.driver.cost import KernelCost
    from ingot.compiler.driver.history import History, KernelHistory


@dataclass(frozen=True)
class FunctionView:
    """A function of the program."""

    name: str
    arguments: list[tuple[str, str]]
    results: list[tuple[str, str]]
    graph: Drawing
    dispatches: int
    memory: MemoryChart | None
    """None where nothing is transient, or where a call decides the sizes."""
    is_sized_by_call: bool


@dataclass(frozen=True)
class KernelView:
    """A row of the table of kernels."""

    name: str
    location: str
    threads: str
    shared: str
    bindings: list[tuple[str, str, str]]
    spirv_size: str
    msl_size: str
    costs: list[KernelCost]


def page_html(bundle: model.Bundle, target: str | None, name: str, history: History | None) -> str:
    """The page of one variant (the first by default); `name` stands at the top.

    Raises `KeyError` when no variant is for `target`.
    """
    variants = {variant.target: variant for variant in bundle.variants}
    variant = variants[target] if target is not None else bundle.variants[0]
    kernels = history.targets[variant.target] if history is not None else {}
    return _Page(bundle, variant, name, history, kernels).render()


class _Page:
    def __init__(
        self,
        bundle: model.Bundle,
        variant: model.Variant,
        name: str,
        history: History | None,
        kernels: dict[str, KernelHistory],
    ) -> None:
        self.bundle, self.variant, self.name = bundle, variant, name
        self.history, self.kernels = history, kernels
        self.profile = PROFILES.get(variant.target)
        self.costs: dict[str, list[KernelCost]] = {}
        if self.profile is not None:
            from ingot.compiler.driver.cost import kernel_costs

            for cost in kernel_costs(variant, self.profile):
                self.costs.setdefault(cost.kernel, []).append(cost)

    def render(self) -> str:
        """The page as text."""
        from jinja2 import Environment, PackageLoader, StrictUndefined

        environment = Environment(
            loader=PackageLoader("ingot.tools.page", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters.update(size=size_text, scaled=scaled, time=time_text)
        peaks = self.profile.peaks if self.profile is not None else None
        costs = [cost for group in self.costs.values() for cost in group]
        return environment.get_template("page.html").render(
            name=self.name,
            bundle=self.bundle,
            variant=self.variant,
            targets=[variant.target for variant in self.bundle.variants],
            functions=[
                self._function(function, body)
                for function, body in zip(self.bundle.functions, self.variant.bodies, strict=True)
            ],
            kernels=[self._kernel(kernel) for kernel in self.variant.kernels],
            constants=sum(c.type.byte_size for c in self.bundle.constants),
            peaks=peaks,
            roofline=roofline(costs, peaks) if peaks is not None else None,
            has_history=self.history is not None,
            colors=COLORS,
            data={f"kernel-{i}": self._data(k) for i, k in enumerate(self.variant.kernels)},
            source=self._source(),
        )

    def _function(self, function: model.Function, body: model.FunctionBody) -> FunctionView:
        nodes = nodes_of(body, self.variant, self._type_of)
        words = Words(
            kernel=lambda index: self.variant.kernels[index].name,
            storage=lambda ref: self._storage(function, ref),
            note=self._note,
        )
        lives = lifetimes(nodes)
        memory = None
        if lives:
            memory = memory_chart(
                lives,
                _count(nodes),
                body.transient_size,
                body.transient_lower_bound,
                words.kernel,
            )
        return FunctionView(
            function.name,
            _parameters(function.arguments, function.argument_names, "arg"),
            _parameters(function.results, function.result_names, "result"),
            draw(nodes, words),
            _count(nodes, lambda node: node.kernel is not None),
            memory,
            lives is None,
        )

    def _type_of(self, kernel: int, binding: int) -> str:
        """With its shape where that is known, which a bundle does not hold."""
        found = self.variant.kernels[kernel]
        history = self.kernels.get(found.name)
        if history is not None and len(history.types) == len(found.bindings):
            return history.types[binding]
        return found.bindings[binding].dtype.name.lower()

    def _storage(self, function: model.Function, ref: model.BufferRef) -> str:
        if ref.kind is model.BufferKind.CONSTANT:
            constant = self.bundle.constants[ref.index]
            return f"{constant.name} {spell(constant.type)}"
        is_result = ref.kind is model.BufferKind.RESULT
        types = function.results if is_result else function.arguments
        names = function.result_names if is_result else function.argument_names
        prefix = "result" if is_result else "arg"
        return f"{parameter_name(names, ref.index, prefix)} {spell(types[ref.index])}"

    def _note(self, node: Node) -> str:
        if node.kernel is None:
            return ""
        costs = self.costs.get(self.variant.kernels[node.kernel].name, [])
        return f"≥ {time_text(costs[0].least_time)}" if costs and costs[0].least_time else ""

    def _kernel(self, kernel: model.Kernel) -> KernelView:
        index = self.variant.kernels.index(kernel)
        bindings = [
            (binding.name, self._type_of(index, i), binding.access.name.lower().replace("_", " "))
            for i, binding in enumerate(kernel.bindings)
        ]
        return KernelView(
            kernel.name,
            kernel.location,
            " x ".join(map(str, kernel.threadgroup_size)),
            size_text(kernel.threadgroup_memory),
            bindings,
            size_text(len(kernel.spirv)),
            size_text(len(kernel.msl.encode())) if kernel.msl else "",
            self.costs.get(kernel.name, []),
        )

    def _data(self, kernel: model.Kernel) -> str:
        panes, unlinked = kernel_panes(kernel, self.variant, self.kernels.get(kernel.name))
        return _json({"panes": [pane.data() for pane in panes], "unlinked": unlinked})

    def _source(self) -> str:
        if self.history is None:
            return _json(None)
        lines = [shortened(line) for line in self.history.text.splitlines()]
        language = "text" if self.history.filename.endswith(".tin") else "mlir"
        name = PurePath(self.history.filename).name
        return _json({"name": name, "lines": lines, "runs": runs(lines, language)})


def _parameters(
    types: tuple[model.TensorType, ...], names: tuple[str, ...], prefix: str
) -> list[tuple[str, str]]:
    return [(parameter_name(names, i, prefix), spell(type_)) for i, type_ in enumerate(types)]


def _count(nodes: list[Node], wanted: Callable[[Node], bool] = lambda _: True) -> int:
    inner = sum(_count(body, wanted) for node in nodes for _, body in node.bodies)
    return inner + sum(map(wanted, nodes))


def _json(value: Any) -> str:
    """JSON that may stand inside of a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")

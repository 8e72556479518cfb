"""The reducer: what each reduction takes, and how the search and the trials behave."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.harness import EXAMPLES, device
from xdsl.dialects.builtin import ModuleOp

from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver import verify_values
from ingot.compiler.driver.compile import compile_text
from ingot.compiler.driver.diagnostics import CompileError
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.driver.pass_pipeline import module_text
from ingot.compiler.driver.reduction import operations, sizes
from ingot.compiler.driver.reduction.attributes import DropAttributes
from ingot.compiler.driver.reduction.constants import SimplifyConstants
from ingot.compiler.driver.reduction.crash import PassesCrash, crash_signature
from ingot.compiler.driver.reduction.generic_operands import DropGenericOperands
from ingot.compiler.driver.reduction.reduce import REDUCTIONS, Limits, Reduced, reduce_text
from ingot.compiler.driver.reduction.search import Reduction, weight
from ingot.compiler.driver.reduction.symbols import DropArguments, DropResults, DropSymbols
from ingot.compiler.driver.reduction.trials import Trials
from ingot.compiler.driver.verification import verify
from ingot.compiler.frontends.reader import read_module
from ingot.tools.interestingness import Mismatch
from ingot.tools.main import command


@dataclass(frozen=True)
class Holds:
    """Interesting is what holds a word."""

    word: str

    def __call__(self, text: str) -> str | None:
        return "it is there" if self.word in text else None


def taken(reduction: Reduction, text: str) -> str:
    """The module after all parts of a reduction are taken at once, verified."""
    module = read_module(text, "test.mlir", make_context())
    reduction.take(module, reduction.parts(module))
    verify(module)
    return module_text(module)


CALLS = """
func.func private @used(%x: f32, %y: i32) -> f32 { return %x : f32 }
func.func @unused(%x: f32) -> f32 { return %x : f32 }
func.func @main(%x: f32, %y: i32) -> (f32, i32) {
  %0 = call @used(%x, %y) : (f32, i32) -> f32
  return %0, %y : f32, i32
}
"""
CHAIN = """
func.func @main(%x: tensor<4xf32>, %y: f32) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  %1 = math.sqrt %0 : tensor<4xf32>
  %2 = tensor.from_elements %y : tensor<1xf32>
  return %1 : tensor<4xf32>
}
"""
TENSORS = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  %1 = math.sqrt %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""
LOOP = """
func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c = arith.constant 1 : index
  %0 = scf.for %i = %c to %n step %c iter_args(%a = %x) -> (tensor<4xf32>) {
    %1 = math.exp %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
"""
GENERIC = """
#map = affine_map<(i) -> (i)>
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0, %1 = linalg.generic
      {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%x, %y : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    linalg.yield %b, %a : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %1 : tensor<4xf32>
}
"""
SHAPES = """
func.func @main(%x: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = tensor.extract_slice %x[0, 0] [4, 6] [1, 1] : tensor<8x6xf32> to tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
"""


def test_functions_go_unless_something_left_names_them() -> None:
    drop = DropSymbols()
    module = read_module(CALLS, "test.mlir", make_context())
    used, unused, main = drop.parts(module)
    for chosen, left in (
        ([unused], ("used", "main")),
        ([used], ("used", "unused", "main")),
        ([used, main], ("unused",)),
        ([used, unused, main], ("used", "unused", "main")),
    ):
        copy = module.clone()
        drop.take(copy, chosen)
        assert [f"@{name}(" in module_text(copy) for name in left] == [True] * len(left)
        assert len(list(copy.ops)) == len(left)


def test_results_and_arguments_of_functions_that_nobody_calls() -> None:
    text = taken(DropArguments(), taken(DropResults(), CALLS))
    assert "func.func private @used(%x: f32, %y: i32) -> f32" in text
    assert "func.func @unused() {" in text
    assert "func.func @main(%x: f32, %y: i32) {" in text


def test_what_is_known_of_each_argument_goes_with_it() -> None:
    text = taken(
        DropArguments(),
        'func.func @f(%x: f32 {a.b}, %y: f32) -> f32 attributes {ingot.names = ["x", "y"]}'
        " { return %y : f32 }",
    )
    assert 'func.func @f(%y: f32) -> f32 attributes {ingot.names = ["y"]}' in text


@pytest.mark.parametrize(
    ("reduction", "kept", "gone"),
    [
        (operations.EraseUnused(), ("math.exp", "math.sqrt"), ("from_elements",)),
        (operations.ReturnEarlier(), ("return %0 : tensor<1xf32>",), ("math",)),
        (operations.BYPASS, ("return %x",), ("math",)),
        (operations.TO_ARGUMENTS, ("return %x",), ("math",)),
        (operations.TO_ZEROS, ("dense<0.0",), ("math",)),
        (operations.ToNewArguments(), ("@main(%x:",), ("math",)),
    ],
    ids=lambda v: type(v).__name__ if not isinstance(v, tuple) else "",
)
def test_ops(reduction: Reduction, kept: tuple[str, ...], gone: tuple[str, ...]) -> None:
    text = taken(reduction, CHAIN)
    assert all(word in text for word in kept)
    assert not any(word in text for word in gone)


def test_a_loop_is_unwrapped_with_the_values_it_begins_with() -> None:
    text = taken(operations.Unwrap(), LOOP)
    assert "scf" not in text
    assert "math.exp %x" in text


def test_operands_of_generics() -> None:
    text = taken(DropGenericOperands(), GENERIC)
    assert "ins(%x, %y :" in text
    assert "outs(%y : tensor<4xf32>)" in text
    assert "linalg.yield %a : f32" in text


def test_sizes_change_in_types_constants_and_slices_together() -> None:
    text = taken(sizes.ShrinkSizes("", sizes.half), SHAPES)
    assert "dense<[1, 2]> : tensor<2xi32>" in text
    assert "%x[0, 0] [2, 3] [1, 1] : tensor<4x3xf32> to tensor<2x3xf32>" in text


def test_constants_say_less() -> None:
    assert "dense<1> : tensor<4xi32>" in taken(SimplifyConstants("first element"), SHAPES)
    zero = SimplifyConstants("zero")
    assert "dense<0> : tensor<4xi32>" in taken(zero, SHAPES)
    assert zero.parts(read_module(taken(zero, SHAPES), "test.mlir", make_context())) == []


def test_an_attribute_that_is_needed_is_kept_in_the_end() -> None:
    text = "func.func @f(%x: f32) -> f32 attributes {a = 1, b = 2} { return %x : f32 }"
    small = reduce_text(text, "t", Holds("b = 2"), "", reductions=[DropAttributes()]).text
    assert "func.func @f(%x: f32) -> f32 attributes {b = 2 : i64} {" in small


def reduced(jobs: int = 1, seconds: float | None = None) -> Reduced:
    return reduce_text(
        LOOP + CALLS.replace("@main", "@other"),
        "t",
        Holds("math.exp"),
        "",
        Limits(jobs, seconds=seconds),
    )


def test_the_result_does_not_depend_on_how_many_run_at_once() -> None:
    one, three = reduced(1), reduced(3)
    assert one.text == three.text
    assert one.is_complete
    assert one.text.count("\n") == 6, one.text
    assert one.after.ops < one.before.ops


def test_when_the_time_is_up_the_best_is_given() -> None:
    nothing = reduced(seconds=0.0)
    assert not nothing.is_complete
    assert nothing.trials == 1
    assert "scf.for" in nothing.text


def test_a_program_that_is_of_no_interest_is_refused() -> None:
    with pytest.raises(CompileError, match="nothing there"):
        reduce_text(CHAIN, "t", Holds("math.tanh"), "nothing there")


def test_trials_survive_what_they_run() -> None:
    def kills_itself(text: str) -> str | None:
        os.abort()

    def hangs(text: str) -> str | None:
        time.sleep(60)
        return "late"

    assert Trials(kills_itself).ask(CHAIN) == "killed by signal 6"
    assert Trials(hangs, seconds=0.2).ask(CHAIN) is None


def test_only_programs_that_can_be_read_and_verify_are_judged() -> None:
    wrong = "func.func @f() -> f32 { return }"
    assert Trials(lambda text: "yes").ask(wrong) is None
    assert Trials(lambda text: "yes").ask(CHAIN) == "yes"


def test_the_signature_of_a_crash_does_not_name_the_program() -> None:
    def signature(name: str) -> str:
        try:
            raise KeyError(name)
        except KeyError as error:
            return crash_signature(error)

    assert signature("%a") == signature("%b")
    assert "KeyError in " in signature("%a")


def test_a_refusal_is_no_crash() -> None:
    assert PassesCrash("cse")(CHAIN) is None
    assert PassesCrash("convert-to-spirv")("func.func @f() { return }") is None


def test_a_mismatch_is_found_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    program = CHAIN.replace("%y: f32", "%y: tensor<4xf32>").replace(
        "tensor.from_elements %y : tensor<1xf32>", "math.exp %y : tensor<4xf32>"
    )
    device("host")
    judge = Mismatch("host")
    assert judge(program) is None
    # As if the device were wrong about every value.
    monkeypatch.setattr(verify_values, "compare", lambda *_: verify_values.Comparison(False, ""))

    def watched(text: str) -> str | None:
        return judge(text) if "math.sqrt" in text else None

    small = reduce_text(program, "t", watched, "", Limits(2)).text
    assert "func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {" in small
    assert "math.sqrt %x : tensor<1xf32>" in small
    assert "math.exp" not in small


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        ([], 2, "error: say what is interesting: --test SCRIPT, --crash or --mismatch"),
        (["--test", "./none"], 2, "./none: error: no such program, or it may not be executed"),
        (["--crash"], 2, "t.mlir: error: no `// RUN: ingot` line says what fails"),
        (["--crash", "--target", "metal:apple77"], 2, "unknown target `metal:apple77`"),
        (["--crash", "--nonsense"], 2, "No such option"),
        (["--crash", "-p", "nonsense"], 1, "there is no pass named `nonsense`"),
        (["--crash", "--cse"], 1, "t.mlir: error: no internal error to reduce"),
        (["--mismatch"], 1, "t.mlir: error: host computes what the reference evaluator does"),
        (["--mismatch", "--device", "none"], 1, "error: there is no device 'none'; devices are"),
        (["--test", "true"], 1, "t.mlir: error: true says that the program is not interesting"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "",
)
def test_what_is_said_on_the_command_line(
    words: list[str], status: int, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.mlir").write_text(CHAIN)
    done = CliRunner().invoke(command, ["reduce", "t.mlir", *words], prog_name="ingot")
    assert (done.exit_code, sentence in done.stderr) == (status, True), done.stderr


def test_a_crash_outside_of_passes_is_reduced_by_its_reproducer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(module: ModuleOp, *_: object) -> tuple[()]:
        raise RuntimeError(f"no code for {len(list(module.walk()))} ops")

    monkeypatch.setattr("ingot.compiler.driver.compile.compile_kernels", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("INGOT_CACHE_DIR", str(tmp_path / "cache"))
    program = tmp_path / "t.mlir"
    program.write_text(TENSORS)
    words = ["compile", str(program), "-o", "x", "--target", "vulkan:generic", "--math", "strict"]
    done = CliRunner().invoke(command, words, prog_name="ingot")
    assert "internal error: RuntimeError: no code for" in done.stderr
    (reproducer,) = tmp_path.glob("ingot-reproducer-*.mlir")
    run = "// RUN: ingot compile %s -o %t --target vulkan:generic --math strict\n"
    assert run in reproducer.read_text()

    done = CliRunner().invoke(command, ["reduce", str(reproducer), "--crash"], prog_name="ingot")
    assert done.exit_code == 0, done.stderr
    assert run in done.stdout
    assert "math" not in done.stdout.replace("--math", "")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.mlir")), ids=lambda p: p.stem)
def test_reductions_take_from_any_level(path: Path) -> None:
    """They leave something that can be asked for its parts again, if not always a valid module."""
    module = read_module(path.read_text(), path.name, make_context())
    compiled = compile_text(path.read_text(), path.name, CompileOptions(("vulkan:generic",)))
    for start in (module, compiled.targets[0].module):
        for reduction in REDUCTIONS:
            parts = reduction.parts(start)
            for taken in (parts, parts[: len(parts) // 2], parts[-1:]):
                copy = start.clone()
                if taken:
                    reduction.take(copy, taken)
                reduction.parts(copy)
                weight(copy)

"""Ops and chains that read more tensors than a device binds for one kernel."""

from __future__ import annotations

import numpy as np
import pytest
from support.batch import check_module
from support.harness import DEVICES

COUNT = 40


def one_op() -> str:
    """A reduction of matrices, rows and integers, of which two are read by index."""
    types = ["5x7xf32", "7xf32", "7xi32"]
    maps = ["(i, j) -> (i, j)", "(i, j) -> (j)", "(i, j) -> (j)"]
    inputs = [f"tensor<{types[k % 3]}>" for k in range(COUNT)]
    arguments = ", ".join(f"%x{k}: {type_}" for k, type_ in enumerate(inputs))
    used = ", ".join(f"affine_map<{maps[k % 3]}>" for k in range(2, COUNT))
    block = ", ".join(f"%b{k}: {'i32' if k % 3 == 2 else 'f32'}" for k in range(2, COUNT))
    body = """
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %b0 = tensor.extract %x0[%i, %j] : tensor<5x7xf32>
        %b1 = tensor.extract %x1[%j] : tensor<7xf32>
        %s0 = arith.addf %o, %b0 : f32
        %s1 = arith.addf %s0, %b1 : f32
    """
    for k in range(2, COUNT):
        value = f"%b{k}"
        if k % 3 == 2:
            body += f"%f{k} = arith.sitofp %b{k} : i32 to f32\n"
            value = f"%f{k}"
        body += f"%s{k} = arith.addf %s{k - 1}, {value} : f32\n"
    return f"""
    func.func @one_op({arguments}, %init: tensor<5xf32>) -> tensor<5xf32> {{
      %r = linalg.generic {{indexing_maps = [{used}, affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]}}
          ins({", ".join(f"%x{k}" for k in range(2, COUNT))} : {", ".join(inputs[2:])})
          outs(%init : tensor<5xf32>) {{
      ^bb0({block}, %o: f32):
        {body}
        linalg.yield %s{COUNT - 1} : f32
      }} -> tensor<5xf32>
      return %r : tensor<5xf32>
    }}
    """


def chain(size: str) -> str:
    """Each op adds one more tensor."""
    type_ = f"tensor<{size}xf32>"
    arguments = ", ".join(f"%x{k}: {type_}" for k in range(COUNT))
    sums = [f"%s1 = arith.addf %x0, %x1 : {type_}"]
    sums += [f"%s{k} = arith.addf %s{k - 1}, %x{k} : {type_}" for k in range(2, COUNT)]
    body = "\n".join(sums)
    return (
        f"func.func @chain({arguments}) -> {type_} {{\n{body}\nreturn %s{COUNT - 1} : {type_}\n}}"
    )


@pytest.mark.parametrize("device_name", DEVICES)
def test_one_op_with_forty_inputs(device_name: str) -> None:
    check_module(one_op(), device_name)


@pytest.mark.parametrize("device_name", DEVICES)
def test_a_dynamic_chain_of_forty_inputs(device_name: str) -> None:
    inputs = [np.random.default_rng(k).random(9, np.float32) for k in range(COUNT)]
    check_module(chain("?"), device_name, {"chain": inputs})

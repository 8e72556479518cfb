// RUN: ingot-opt %s -p 'dispatch-plan-memory' --split-input-file --verify-diagnostics

func.func @data_decides(%n: tensor<i32>) -> tensor<?xf32> {
  // expected-error@+1 {{the host cannot compute tensor.extract for a size or a check}}
  %s = tensor.extract %n[] : tensor<i32>
  %i = arith.index_cast %s : i32 to index
  %e = tensor.empty(%i) : tensor<?xf32>
  return %e : tensor<?xf32>
}

// -----

func.func @never(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %n = tensor.dim %x, %c1 : tensor<?x4xf32>
  %p = arith.cmpi eq, %n, %c5 : index
  // expected-error@+1 {{five columns}}
  host.check %p, "five columns"
  return %x : tensor<?x4xf32>
}

// -----

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{test.op is not a command that a device can run}}
  %0 = "test.op"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @made_elsewhere(%x: tensor<4xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{the size of what test.op makes is not known to the host}}
  %0 = "test.op"(%x) : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

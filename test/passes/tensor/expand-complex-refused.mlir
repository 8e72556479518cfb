// RUN: ingot-opt %s -p 'expand-complex' --split-input-file --verify-diagnostics

// expected-error@+1 {{complex<f64> is not supported}}
func.func @wide(%x: tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>> {
  return %x : tensor<4xcomplex<f64>>
}

// -----

// expected-error@+1 {{the complex tensor tensor<?xcomplex<f32>> has a size known at run time only}}
func.func @dynamic(%x: tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>> {
  return %x : tensor<?xcomplex<f32>>
}

// -----

func.func @bits(%x: tensor<complex<f32>>) -> tensor<complex<f32>> {
  %0 = tensor.extract %x[] : tensor<complex<f32>>
  // expected-error@+1 {{complex.atan2 on complex numbers is not supported}}
  %1 = complex.atan2 %0, %0 : complex<f32>
  return %x : tensor<complex<f32>>
}

// RUN: ingot-opt %s -p drop-shardings --verify-diagnostics

// expected-error@+1 {{the mesh @two has 2 devices, and a program runs on one}}
sdy.mesh @two = <["x"=2]>

#pragma once

namespace ingot {

/// While one lives, faults of kernels are caught; the handlers found before are put back after.
class FaultHandler {
 public:
  FaultHandler();
  ~FaultHandler();
  FaultHandler(const FaultHandler&) = delete;
  FaultHandler& operator=(const FaultHandler&) = delete;
};

}  // namespace ingot

"""MSL from SPIR-V: cross-compilation, and the policy that makes its text ours.

The model:

- **One module, one kernel.** The compute entry point is renamed after the source's export
  (`msl_identifier`), and the names of buffers follow their `OpName`.
- **Bindings are explicit.** Binding i of set 0 is `[[buffer(i)]]`; nothing depends on SPIRV-Cross's
  own numbering. Push constants follow the last binding. A kernel with more buffers than the target
  has arguments reads all of them from one argument buffer at index 0, where binding i is
  `[[id(i)]]`, a pointer at byte 8 * i.
- **Every version of SPIRV-Cross gives the same kernel.** Versions differ in `const` on buffers,
  in which functions they name `fast::` or `precise::`, in array wrappers and in comments. Small
  text functions on tokens settle each: `buffers`, `math_mode`, `signature`.
- **Math is what the mode says** (`math_mode`): the text names `precise::` functions and forbids
  fast math by pragma unless the user asked for it.
- **Native bodies** (`substitute_function_body`): what SPIR-V cannot express is a function with a
  portable body that the text replaces by intrinsics.
"""

from .cross_compile import MslBinding, MslError, MslOptions, MslSource, cross_compile
from .functions import FunctionNotFound, substitute_function_body
from .identifiers import msl_identifier

__all__ = [
    "FunctionNotFound",
    "MslBinding",
    "MslError",
    "MslOptions",
    "MslSource",
    "cross_compile",
    "msl_identifier",
    "substitute_function_body",
]

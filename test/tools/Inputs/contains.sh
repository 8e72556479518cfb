#!/bin/sh
# contains.sh WORD FILE: interesting, as mlir-reduce and ingot reduce ask, where FILE has WORD.
grep -q "$1" "$2" && exit 1
exit 0

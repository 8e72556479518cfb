# make demo   compile and run a program for Apple GPUs on this machine, and show what happened
# make test   ruff, pyright, lit, pytest
# make test-metal  Metal: on a Mac on its GPU (and `make test-swift`), elsewhere on the tests' stand-ins
# make sweep  slower: every program, many shapes, every refusal
# make fuzz   random programs against the evaluator: FUZZ="--programs 2000" or "--minutes 60"
# make fuzz-bundles  damaged bundles against the C library and the runtime, MINUTES=10 for each
# make numerics  measure the functions again and rewrite the tables of docs/numerics.md
# make docs   the site, into build/site; make man: the manual page, docs/man/ingot.1
# make bench  Ingot beside IREE and PyTorch on a device: BENCH="--device vulkan --suite standard"
# make bench-compile  CPU, wall time and memory of compiling, beside IREE: BENCH="--suite layers"
# make bench-builds  many programs at once, the cache, and what is built again: BENCH="FILE..."
# make clean  remove what the others made

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
ROOMS := compiler passes targets runtime tuning tools
INTEGRATIONS := jax torch
LINKS := $(ROOMS:%=build/typecheck/ingot/%) $(INTEGRATIONS:%=build/typecheck/ingot/%) \
  build/typecheck/ingot/integrations

.PHONY: demo test test-metal test-swift lint typecheck lit pytest sweep fuzz fuzz-bundles bench bench-compile bench-builds numerics docs man clean

demo: $(INSTALLED)
	@$(BIN)/python examples/demo.py

test: lint typecheck lit pytest

test-metal: $(INSTALLED)
	METAL_DEVICE_WRAPPER_TYPE=1 MTL_SHADER_VALIDATION=1 \
	  $(BIN)/pytest -n 2 -m "not slow" -k metal test/unit/runtime test/unit/tools test/e2e test/embed
	@[ "$$(uname)" != Darwin ] || $(MAKE) test-swift

test-swift: $(INSTALLED)
	mkdir -p build
	$(BIN)/ingot compile examples/saxpy.mlir -o build/saxpy.ingot --target metal:apple7
	INGOT_TEST_BUNDLE=$(CURDIR)/build/saxpy.ingot swift test

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

typecheck: $(INSTALLED) $(LINKS)
	@find -L build/typecheck/ingot docs/tools/mkdocs_hook.py docs/tools/reference -name '*.py' | \
	  $(BIN)/pyright - > build/typecheck/log; \
	  status=$$?; sed 's#[^ ]*build/typecheck/ingot/##' build/typecheck/log; exit $$status

lit: $(INSTALLED)
	$(BIN)/lit -j2 --no-progress-bar -s test

# pyspirv is tested on the system's SPIRV-Cross, and on a current one where it can be had.
pytest: $(INSTALLED)
	@test/unit/pyspirv/current_spirv_cross.sh >/dev/null || true
	$(BIN)/pytest -n 2 -m "not slow"

sweep: $(INSTALLED)
	$(BIN)/pytest -n 2 -m slow
	$(BIN)/python test/support/refusals/list_unreached.py

FUZZ ?= --programs 2000

fuzz: $(INSTALLED)
	PYTHONPATH=test $(BIN)/python -m fuzz.main $(FUZZ)

MINUTES ?= 10

# Needs clang's sanitizers (libclang-rt-19-dev) and atheris.
fuzz-bundles: $(INSTALLED)
	$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/pip install --quiet -e '.[fuzz]'
	PYTHONPATH=test $(BIN)/python -m fuzz.bundles.main --minutes $(MINUTES)

# IREE and matplotlib are the extra `bench`; BENCH_PYTHON may be an environment that has them.
BENCH_PYTHON ?= $(BIN)/python

bench: $(INSTALLED)
	$(BENCH_PYTHON) -m bench $(BENCH)

bench-compile: $(INSTALLED)
	$(BENCH_PYTHON) -m bench.compile $(BENCH)

bench-builds: $(INSTALLED)
	$(BIN)/python -m bench.builds $(BENCH)

numerics: $(INSTALLED)
	$(BIN)/python docs/tools/numerics.py

docs: $(INSTALLED)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo build/site/index.html

man: $(INSTALLED)
	cd docs/tools && $(abspath $(BIN))/python -m reference.man

$(INSTALLED): pyproject.toml .ci/setup
	.ci/setup --dev
	test -x $(BIN)/python || "$$(.ci/setup --python)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	mkdir -p $(VENV)/share/cmake $(VENV)/share/man/man1
	ln -sfn ../../../cmake $(VENV)/share/cmake/Ingot
	ln -sfn ../../../../docs/man/ingot.1 $(VENV)/share/man/man1/ingot.1
	@touch $@

# pyright sees every module under the path that `import ingot.compiler` leads to, through these
# links, and so each class once; see [tool.pyright].
build/typecheck/ingot/integrations: | build/typecheck/ingot
	ln -sfn ../../../integrations/common $@

$(INTEGRATIONS:%=build/typecheck/ingot/%): build/typecheck/ingot/%: | build/typecheck/ingot
	ln -sfn ../../../integrations/$* $@

build/typecheck/ingot/%: | build/typecheck/ingot
	ln -sfn ../../../$* $@

build/typecheck/ingot:
	mkdir -p $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

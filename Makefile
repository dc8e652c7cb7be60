# Everything runs in .venv, which is made from the first Python >= 3.11 found (PYTHON=... chooses another).
# `make demo` shows the main job, `make test` runs the sampled tests, `make help` lists the rest.
export VENV ?= .venv
NOX := $(VENV)/bin/python -m nox -s
DEMO := build/demo

.PHONY: help demo fix lint types test test-full test-gpu extras benchmarks clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

$(VENV)/installed: pyproject.toml constraints.txt tools/make-venv.sh
	@echo "Making the environment in $(VENV) ..."
	@./tools/make-venv.sh

demo: $(VENV)/installed ## convert the functions of examples/ and show what was done
	@CUDAPERF=$(VENV)/bin/cudaperf ./examples/demo.sh $(DEMO)

fix lint types test test-full test-gpu extras: $(VENV)/installed
	@$(NOX) $@

fix: ## mend and format what can be
lint: ## style and formatting
types: ## mypy --strict
test: ## the sampled tests
test-full: ## every test that needs no GPU
test-gpu: ## the tests that need an NVIDIA GPU
extras: ## each optional extra resolves alone

benchmarks: $(VENV)/installed ## start-up and optimize latency
	@$(VENV)/bin/python benchmarks/startup.py
	@$(VENV)/bin/python benchmarks/analysis.py
	@$(VENV)/bin/python benchmarks/optimize_latency.py

clean: ## remove what was built
	rm -rf build dist .nox

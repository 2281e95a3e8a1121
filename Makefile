# Commands of the project: `make help` lists them. The build itself is CMake's (CMakePresets.json).
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
BENCH_FILTER ?= .
PARALLEL ?= $(shell nproc)
SOURCES = $(shell git ls-files '*.cc' '*.h' '*.c' '*.cu')

.PHONY: help
help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: program ## Install what is missing, build, and profile: a CUDA program, or without a GPU a recording
	build/release/bin/utlz demo

.PHONY: test
test: packages-test ## Install, build, and run every test that this machine can run
	cmake --preset release
	cmake --build --preset release --parallel $(PARALLEL)
	tools/dev/run_tests release

.PHONY: program
program: packages-build ## Build what is installed, and no tests, into build/release
	cmake --preset release
	cmake --build --preset release --parallel $(PARALLEL) --target utlz utlz_inject utlz_demo_load

.PHONY: release
release: packages-build ## Build everything, tests and benches too, into build/release
	cmake --preset release
	cmake --build --preset release --parallel $(PARALLEL) --target all benches

.PHONY: asan
asan: packages-test ## Build and test under AddressSanitizer and UBSan
	cmake --preset asan
	cmake --build --preset asan --parallel $(PARALLEL)
	tools/dev/run_tests asan

.PHONY: tsan
tsan: packages-test ## Build and test under ThreadSanitizer
	cmake --preset tsan
	cmake --build --preset tsan --parallel $(PARALLEL)
	tools/dev/run_tests tsan

.PHONY: sanitizers
sanitizers: sanitizers-build ## Build with clang, ASan and UBSan; test, and run every fuzzer for 10 s
	tools/dev/run_fuzzers 10
	tools/dev/run_tests sanitizers

.PHONY: sanitizers-build
sanitizers-build: packages-test
	tools/dev/install_packages fuzz
	cmake --preset sanitizers
	cmake --build --preset sanitizers --parallel $(PARALLEL)

.PHONY: fuzz
fuzz: fuzzers-build ## Run every fuzzer for FUZZ_SECONDS (60) each
	tools/dev/run_fuzzers $(FUZZ_SECONDS)

.PHONY: fuzzers-build
fuzzers-build: packages-test
	tools/dev/install_packages fuzz
	cmake --preset sanitizers
	cmake --build --preset sanitizers --parallel $(PARALLEL) --target fuzzers

.PHONY: soak
soak: packages-test release ## Run the long tests: 200 million launches, a thousand attachments
	ctest --preset release --label-regex soak

.PHONY: bench
bench: packages-test release ## Run the Google Benchmarks that match BENCH_FILTER
	for program in build/release/bin/bench_*; do "$$program" --benchmark_filter='$(BENCH_FILTER)'; done

.PHONY: install
install: program ## Install into PREFIX (/usr/local), stripped; DESTDIR is respected
	cmake --install build/release --strip --prefix $(abspath $(PREFIX))

.PHONY: package
package: program ## Make a relocatable tarball, a .deb and an .rpm in build/packages
	tools/dev/install_packages package
	cpack --config build/release/CPackConfig.cmake -B build/packages

.PHONY: wheel
wheel: release ## Make a Python wheel in build/packages
	tools/dev/make_wheel.py build/release build/packages

.PHONY: format
format: ## Format the C++ sources
	tools/dev/install_packages format
	clang-format -i $(SOURCES)

.PHONY: tidy
tidy: release ## Run clang-tidy over the sources of the release build
	tools/dev/install_packages format
	run-clang-tidy -quiet -p build/release '$(CURDIR)/(collector|cupti|inject|tools)/.*\.cc$$'

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf build

.PHONY: packages-build packages-test packages-monitoring
packages-monitoring:
	tools/dev/install_packages build -- monitoring
packages-build:
	tools/dev/install_packages build test -- speed
packages-test:
	tools/dev/install_packages build test -- speed browser terminal
	tools/dev/install_npm_packages

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
run: release ## Install what is missing, build, and profile: a CUDA program, or without a GPU a recording
	build/release/bin/utlz demo

.PHONY: test
test: packages-test release ## Install, build, and run every test that this machine can run
	tools/dev/run_tests release

.PHONY: release
release: packages-build ## Build optimised, into build/release
	cmake --preset release
	cmake --build --preset release --parallel $(PARALLEL)

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

.PHONY: fuzz
fuzz: packages-test ## Run every fuzzer for FUZZ_SECONDS (60) each
	tools/dev/install_packages fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz --parallel $(PARALLEL)
	tools/dev/run_fuzzers $(FUZZ_SECONDS)

.PHONY: soak
soak: packages-test release ## Run the long tests: memory, drop counts and totals over 200 million launches
	ctest --preset release --label-regex soak

.PHONY: bench
bench: packages-test release ## Run the Google Benchmarks that match BENCH_FILTER
	for program in build/release/bin/bench_*; do "$$program" --benchmark_filter='$(BENCH_FILTER)'; done

.PHONY: install
install: release ## Install into PREFIX (/usr/local), stripped; DESTDIR is respected
	cmake --install build/release --strip --prefix $(abspath $(PREFIX))

.PHONY: package
package: release ## Make a relocatable tarball and a .deb in build/packages
	tools/dev/install_packages package
	cpack --config build/release/CPackConfig.cmake -B build/packages

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

.PHONY: packages-build packages-test
packages-build:
	tools/dev/install_packages build test -- speed
packages-test:
	tools/dev/install_packages build test -- speed browser terminal
	tools/dev/install_npm_packages

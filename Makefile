# `make test` runs every test, `make check` every check that is no test. The other targets are their
# parts, each of which runs alone.
.PHONY: test test-rust test-browser test-docs check check-format check-clippy check-docs check-guard check-tree bench

test: test-rust

test-rust:
	.ci/timed "Rust tests" cargo test --workspace --locked

# The page in a real browser: chromium (`apt-get install chromium`, or CHROMIUM=path) and Node.
# Screenshots are left in the target folder.
test-browser:
	cargo build --package turnwire-server --locked
	cd examples/server/tests/browser && npm install --no-package-lock --no-audit --no-fund --silent
	cd examples/server/tests/browser && $(CURDIR)/.ci/timed "browser tests" node --test

check: check-tree check-format check-clippy check-docs check-guard

check-tree:
	.ci/rooms --self-test
	.ci/rooms
	.ci/tree --self-test
	.ci/tree

check-format:
	cargo fmt --all --check

check-clippy:
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy --package turnwire --no-default-features --locked -- -D warnings

check-docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --package turnwire --no-deps --locked

# Links the core without `std`; anything below it that needs `std` is a second panic handler.
check-guard:
	cargo build --manifest-path core/guard/Cargo.toml --release --locked

bench:
	cargo bench --package turnwire --locked

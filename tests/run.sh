# shellcheck shell=bash
# What `./dev test` does once the machine has what it needs. Read by dev, whose functions and $root it uses.

: "${root:?is set by dev}"

families=()         # those that exist and run only when they are named
state=              # where tally.py keeps the sums
asan_folder=$root/build-asan

# $1: a prefix of file names under tests/, $2: their ending
exist() { compgen -G "$root/tests/$1*$2" >/dev/null; }

find_families() {
	local name
	! exist fuzz/ .c || families+=(fuzz)
	for name in abuse big interop release replays rufh soak qemu; do
		! exist "e2e/${name}_" .py || families+=("$name")
	done
	families+=(abi asan-clang cancels chaos clang debian h2 package page poll roots site tlsfuzzer tsan tsan-gcc valgrind valgrind-clang wolfssl)
}

tally() { python3 "$root/tests/tally.py" "$state" "$@"; }

# One case that is not in any TAP.
case_is() { # LABEL ok|'not ok' NAME
	printf '%s 1 - %s\n1..1\n' "$2" "$3" | tally "$1" -
}

# "suite name" of every Meson test, a line each.
list_tests() { # [FOLDER]
	local folder=${1:-$root/build}
	ninja -C "$folder" build.ninja >/dev/null 2>&1 || true
	meson test -C "$folder" --no-rebuild --list 2>/dev/null | sed -n 's/^[^:]*:\([^ ]*\) \/ \(.*\)$/\1 \2/p'
}

# A run without names makes these in the plain build only. With their names, they run in both.
only_plain='chaos-.*|runtime-setjmp|runtime-ucontext|cells|e2e-h2'
# What depends on how tasks are switched.
switched=switch,task,scope,stack,join,frame,fork,thread,stress,standard,local

all_but() { # FOLDER PATTERN: the names of the others, a line each
	list_tests "$1" | cut -d' ' -f2- | grep -vxE "$2"
}

# Builds what Meson tests need, and nothing else; without a TEST everything.
compile_for() { # FOLDER TEST…
	local folder=$1 targets='all all-tests'
	shift
	if [ $# -gt 0 ]; then
		# What was written there has to be that of the meson.build files as they are.
		compile "$folder" build.ninja || return
		targets=$(python3 "$root/tests/targets.py" "$folder" "$@") || return
		[ -n "$targets" ] || return 0
	fi
	# shellcheck disable=SC2086
	compile "$folder" $targets
}

# Builds and runs Meson tests in a build folder; without NAMES all of them.
run_in() { # FOLDER LABEL NAME…
	local folder=$1 label=$2 said
	shift 2
	if ! compile_for "$folder" "$@"; then
		case_is "$label" 'not ok' "${folder##*/} builds"
		return
	fi
	say "testing ${folder##*/}/ …"
	rm -f "$folder/meson-logs/testlog.json"
	# The lines of progress; failures are shown by tally from the log.
	said=$(mktemp)
	(meson test -C "$folder" --no-rebuild --num-processes 2 "$@" </dev/null 2>&1 || true) | tee "$said" |
		grep -E '^ *[0-9]+/[0-9]+ .*s( |$)|^ERROR' || true
	! grep -q '^ERROR' "$said" || case_is "$label" 'not ok' "meson test goes to its end in ${folder##*/}"
	rm -f "$said"
	if [ -e "$folder/meson-logs/testlog.json" ]; then
		tally "$label" "$folder/meson-logs/testlog.json"
	else
		case_is "$label" 'not ok' "meson test starts in ${folder##*/}"
	fi
}

run_plain() { run_in "$root/build" plain "$@"; }

ahead=

# Builds a folder with what tests leave of the processors: most of their time they wait. What goes wrong shows when the
# folder is built again for its tests.
build_ahead() { # FUNCTION: configures and compiles
	(
		renice -n 19 "$BASHPID"
		"$1"
	) >/dev/null 2>&1 </dev/null &
	ahead=$!
}

end_ahead() {
	[ -z "$ahead" ] || wait "$ahead" || true
	ahead=
}

# Recovery is off: a finding ends the test, whatever the options in the environment are.
configure_asan() { # FOLDER
	local linker=()
	# A third of the build is linking, of which mold makes little. Reports name functions and lines, no variables.
	! is_there command mold || linker=(-Dc_link_args=-fuse-ld=mold -Dcpp_link_args=-fuse-ld=mold)
	configure "$1" --werror -Ddebug=true -Doptimization=1 -Db_sanitize=address,undefined \
		-Db_lundef=false '-Dc_args=-fno-sanitize-recover=all -fno-omit-frame-pointer -g1' "${linker[@]}"
}

must_configure_asan() { # FOLDER LABEL
	configure_asan "$1" && return
	case_is "$2" 'not ok' "${1##*/} is configured"
	return 1
}

build_asan() {
	local names
	configure_asan "$asan_folder" || return
	mapfile -t names < <(all_but "$asan_folder" "$only_plain")
	compile_for "$asan_folder" "${names[@]}"
}

run_asan_in() { # FOLDER LABEL NAME…
	local folder=$1 label=$2
	shift 2
	must_configure_asan "$folder" "$label" || return 0
	ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1} \
		UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1} run_in "$folder" "$label" "$@"
}

run_asan() { run_asan_in "$asan_folder" asan "$@"; }

run_asan_clang() {
	CC=clang CXX=clang++ run_asan_in "$root/build-asan-clang" asan-clang "${criterion_tests[@]}"
}

run_style() {
	say "checking style …"
	(python3 "$root/tests/style.py" "$root" || true) | tally style -
	(python3 "$root/tests/words.py" "$root" || true) | tally words -
}

# Hardened as distributions build it.
run_clang() {
	local result='not ok'
	if CC=clang CXX=clang++ configure "$root/build-clang" --werror --buildtype=debugoptimized \
		'-Dc_args=-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2' &&
		compile "$root/build-clang" all all-tests; then
		result=ok
	fi
	case_is clang "$result" 'everything builds with clang, without a warning'
	[ "$result" = ok ] || return 0
	run_in "$root/build-clang" clang "${runtime_tests[@]}"
}

run_fuzz() {
	if CC=clang CXX=clang++ configure "$root/build-fuzz" --buildtype=debugoptimized -Dfuzz=true \
		-Db_sanitize=address,undefined -Db_lundef=false \
		'-Dc_args=-fsanitize=fuzzer-no-link -fno-sanitize-recover=all' &&
		compile "$root/build-fuzz" all-fuzz; then
		(python3 "$root/tests/fuzz/run.py" "$root/build-fuzz" || true) | tally fuzz -
	else
		case_is fuzz 'not ok' 'build-fuzz builds'
	fi
}

run_tsan_in() { # FOLDER LABEL
	local programs
	configure "$1" --buildtype=debugoptimized -Db_sanitize=thread -Db_lundef=false || {
		case_is "$2" 'not ok' "${1##*/} is configured"
		return
	}
	# ThreadSanitizer wants an address space that is laid out as it expects.
	EDDY_TEST_WRAP="setarch $(uname -m) -R" run_in "$1" "$2" -t 4 "${criterion_tests[@]}"
	# Apps with several workers, a database and jobs; HTTP/2.
	mapfile -t programs < <(python3 "$root/tests/targets.py" "$1" e2e | grep -E '/pg|/service/|/(events|limits)$')
	if ! compile "$1" "${programs[@]}" examples/files examples/tour; then
		case_is "$2" 'not ok' "${1##*/} builds"
		return
	fi
	local -x EDDY_EXAMPLES=$1/examples EDDY_TEST_WORKERS=2 TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1}
	(EDDY_TEST_ONLY=pg,service,h2,h2_limits setarch "$(uname -m)" -R python3 "$root/tests/e2e/run.py" || true) | tally "$2" -
	(EDDY_TEST_ONLY=events EDDY_E2E_HTTP2=1 setarch "$(uname -m)" -R python3 "$root/tests/e2e/run.py" || true) | tally "$2" -
}

run_tsan() { CC=clang CXX=clang++ run_tsan_in "$root/build-tsan" tsan; }
run_tsan_gcc() { run_tsan_in "$root/build-tsan-gcc" tsan-gcc; }

run_valgrind_in() { # FOLDER LABEL OPTION…
	configure "$1" --buildtype=debugoptimized "${@:3}" || {
		case_is "$2" 'not ok' "${1##*/} is configured"
		return
	}
	# It does not know each ioctl of sockets, and would say so.
	EDDY_TEST_WRAP="valgrind -q --sim-hints=lax-ioctls --trace-children=yes --leak-check=full --show-leak-kinds=definite \
		'--suppressions=$root/tests/valgrind.supp'" \
		EDDY_TEST_TIME=600 run_in "$1" "$2" -t 10 "${criterion_tests[@]}"
}

run_valgrind() { run_valgrind_in "$root/build-valgrind" valgrind; }
# What clang writes by default valgrind 3.19 can't read.
run_valgrind_clang() {
	CC=clang CXX=clang++ run_valgrind_in "$root/build-valgrind-clang" valgrind-clang -Dc_args=-gdwarf-4 -Dcpp_args=-gdwarf-4
}

# The Criterion tests of a layer under a seed.
run_chaos_of() { # LAYER SEED MODES EXCEPT
	local program=$root/build/tests/$1/test-$1
	[ -x "$program" ] || return 0
	(EDDY_CHAOS=$2$3 EDDY_TEST_EXCEPT=$4 python3 "$root/tests/criterion.py" "$program" || true) |
		tally "$1 under EDDY_CHAOS=$2$3" -
}

# Many seeds: first the runtime's tests, and of a fourth of them those of the layers above, then servers and clients.
run_chaos() {
	local seed modes exact layer
	if ! compile "$root/build" all all-tests; then
		case_is chaos 'not ok' 'build builds'
		return
	fi
	{ read -r modes && read -r exact; } <"$root/build/tests/chaos"
	for ((seed = 1; seed <= ${CHAOS_SEEDS:-200}; seed++)); do
		[ $((seed % 20)) -ne 1 ] || say "seeds from $seed on …"
		run_chaos_of runtime "$seed" "$modes" "$exact"
		[ $((seed % 4)) -eq 1 ] || continue
		for layer in http compress trace auth; do
			run_chaos_of "$layer" "$seed" "$modes" "$exact"
		done
	done
	run_e2e_family chaos
}

# All tests of the layers, and servers, without io_uring.
run_poll() {
	local -x EDDY_EXECUTOR=poll EDDY_TEST_EXCEPT
	if ! compile "$root/build" build.ninja; then
		case_is poll 'not ok' 'build is configured'
		return
	fi
	read -r EDDY_TEST_EXCEPT <"$root/build/tests/poll"
	run_in "$root/build" poll "${criterion_tests[@]}" e2e
}

# Ops of each kind that polls, cancelled a million times while others take what they wait for.
run_cancels() {
	local program=tests/runtime/test-runtime
	if ! compile "$root/build" "$program"; then
		case_is cancels 'not ok' 'build builds'
		return
	fi
	(EDDY_CANCEL_ROUNDS=${CANCEL_ROUNDS:-1000000} EDDY_TEST_ONLY=op_cancel EDDY_TEST_TIME=3600 \
		python3 "$root/tests/criterion.py" "$root/build/$program" || true) | tally cancels -
}

run_e2e_family() { # FAMILY [FOLDER [NOUN]]
	local folder=${2:-$root/build} extra=all-micro
	case $1 in interop | qemu | soak) extra=all-tests ;; esac
	compile "$folder" all "$extra" || {
		case_is "$1" 'not ok' "${folder##*/} builds"
		return
	}
	(EDDY_EXAMPLES=$folder/examples EDDY_TEST_ONLY=${3:-} python3 "$root/tests/e2e/run.py" "$1" || true) | tally "$1" -
}

# The one looks for leaks, the other measures.
run_soak() {
	if must_configure_asan "$asan_folder" soak; then
		run_e2e_family soak "$asan_folder" chaos
	fi
	run_e2e_family soak "$root/build" overload
}

# The tests of HTTP/2, and all others over it.
run_h2() {
	EDDY_TEST_ONLY=h2,h2_abuse,h2_clients,h2_conformance,h2_limits,bench_http2 run_plain e2e
	run_plain e2e-h2
}

# What was shaken with whom is shown as a table.
run_interop() {
	local -x EDDY_INTEROP_TABLE
	EDDY_INTEROP_TABLE=$(mktemp)
	run_e2e_family interop
	cat "$EDDY_INTEROP_TABLE"
	rm -f "$EDDY_INTEROP_TABLE"
}

# All of the page in a browser.
run_page() {
	local -x EDDY_TEST_ONLY=page
	run_plain e2e
	run_asan e2e
}

run_package() {
	(python3 "$root/tests/package.py" "$root" || true) | tally package -
	if compile "$root/build" all; then
		(python3 "$root/tests/shown.py" "$root" || true) | tally shown -
	else
		case_is shown 'not ok' 'build builds'
	fi
}

# The site and the manual pages: Sphinx takes its time to make them.
run_site() { (python3 "$root/tests/pages.py" "$root" html man || true) | tally site -; }

run_abi() { (python3 "$root/tests/abi.py" "$root" || true) | tally abi -; }
# Made twice, each time in fresh roots; what it has is used.
run_release() {
	local top=$root/build/releases name
	rm -rf "$top"
	for name in once again; do
		if ! python3 "$root/release/release.py" "$root" "$top/$name" trial >/dev/null; then
			case_is release 'not ok' "a release is made, $name"
			return
		fi
	done
	local -x EDDY_RELEASE=$top/once EDDY_RELEASE_AGAIN=$top/again EDDY_LINKED
	EDDY_LINKED=$(compgen -G "$top/once/eddy-*-linux-$(uname -m)")
	run_e2e_family release
}
# Nothing of it is built here.
run_roots() { (python3 "$root/tests/roots.py" "$root" || true) | tally roots -; }
run_debian() { (python3 "$root/tests/debian.py" "$root" build || true) | tally debian -; }

# The scripts of others against our server.
run_tlsfuzzer() {
	if ! compile "$root/build" all all-tests; then
		case_is tlsfuzzer 'not ok' 'build builds'
		return
	fi
	(python3 "$root/tests/tlsfuzzer.py" "$root/build" || true) | tally tlsfuzzer -
}

# All that uses wolfSSL, with another one than the system's.
run_wolfssl() {
	local folder=$root/build-wolfssl prefix layer
	if ! prefix=$(bash "$root/tests/wolfssl.sh" "$root"); then
		case_is wolfssl 'not ok' 'wolfSSL builds'
		return
	fi
	local -x LD_LIBRARY_PATH=$prefix/lib EDDY_WOLFSSL_PREFIX=$prefix
	configure "$folder" --buildtype=debugoptimized "-Dpkg_config_path=$prefix/lib/pkgconfig" || {
		case_is wolfssl 'not ok' "${folder##*/} is configured"
		return
	}
	run_in "$folder" wolfssl http auth
	for layer in http auth; do
		case $(ldd "$folder/tests/$layer/test-$layer") in
		*"=> $prefix/lib/libwolfssl.so"*) case_is wolfssl ok "the tests of $layer load $prefix/lib/libwolfssl.so" ;;
		*) case_is wolfssl 'not ok' "the tests of $layer load $prefix/lib/libwolfssl.so" ;;
		esac
	done
	# test_tls.py looks which library a server has loaded.
	local -x EDDY_TEST_ONLY
	EDDY_TEST_ONLY=$(cd "$root/tests/e2e" && grep -lE '^(from|import) (tls|tls1[23]|tokens|issuers|test_client)\b|^FETCH|bearer' test_*.py |
		sed 's/^test_//; s/\.py$//' | paste -sd,)
	run_in "$folder" wolfssl e2e
}

run_family() {
	case $1 in
	abi | asan-clang | cancels | chaos | clang | debian | fuzz | h2 | interop | package | page | poll | release | roots | site | soak | tlsfuzzer | tsan | tsan-gcc | valgrind | valgrind-clang | wolfssl) "run_${1//-/_}" ;;
	*) run_e2e_family "$1" ;;
	esac
}

# Prints the files that test a noun.
files_of() { # NOUN
	local file
	for file in "$root"/tests/{runtime,http,compress,trace,auth,bench}/"$1".c "$root/tests/e2e/test_$1.py"; do
		[ ! -e "$file" ] || printf '%s\n' "$file"
	done
}

unknown_name() { # NAME TESTS
	local file nouns=()
	for file in "$root"/tests/{runtime,http,compress,trace,auth,bench}/*.c "$root"/tests/e2e/test_*.py; do
		[ -e "$file" ] || continue
		file=${file##*/}
		file=${file#test_}
		nouns+=("${file%.*}")
	done
	say "there is no test called $1"
	say "parts: style $(printf '%s\n' "$2" | cut -d' ' -f1 | sort -u | tr '\n' ' ')"
	say "long, by name only: ${families[*]:-none yet}"
	say "nouns: $(printf '%s\n' "${nouns[@]}" | sort -u | tr '\n' ' ')"
	exit 2
}

run_tests() {
	local name tests suite test found file wanted=() nouns=() nouns_in=() parts=() criterion_tests=() runtime_tests=()
	find_families
	tests=$(list_tests) || die "meson lists no tests in build/; to start afresh: rm -rf '$root/build'"
	while read -r suite test; do
		# Once more the same tests: they have a family of their own.
		case $test in chaos-*) continue ;; esac
		case $suite/$test in runtime/* | http/* | compress/* | trace/* | auth/* | bench/bench) criterion_tests+=("$test") ;; esac
		[ "$suite" != runtime ] || runtime_tests+=("$test")
	done <<<"$tests"

	for name in "$@"; do
		case " style ${families[*]} " in
		*" $name "*)
			parts+=("$name")
			continue
			;;
		esac
		found=
		while read -r suite test; do
			if [ "$name" = "$suite" ] || [ "$name" = "$test" ]; then
				wanted+=("$test")
				found=yes
			fi
		done <<<"$tests"
		[ -z "$found" ] || continue
		while read -r file; do
			[ -n "$file" ] || continue
			suite=${file%/*}
			nouns_in+=("${suite##*/}")
			found=yes
		done < <(files_of "$name")
		[ -n "$found" ] || unknown_name "$name" "$tests"
		nouns+=("$name")
	done

	# Recorded exchanges, where somebody keeps them beside the checkout; without them their tests are skipped.
	if [ -z "${EDDY_VECTORS:-}" ] && [ -d "$root/../shared/vectors" ]; then
		export EDDY_VECTORS=$root/../shared/vectors
	fi
	state=$(mktemp -u)
	trap 'rm -f "$state"; [ -z "$ahead" ] || kill "$ahead" 2>/dev/null' EXIT
	if [ $# -eq 0 ]; then
		run_style
		# First what is tested first: two compilers for each processor help nobody.
		compile "$root/build" all all-tests || true
		build_ahead build_asan
		# A file of e2e runs under the sanitizers, and in the plain build as well if that is another test.
		export EDDY_TEST_ONCE=yes
		mapfile -t wanted < <(all_but "$root/build" 'runtime-setjmp|runtime-ucontext')
		run_plain "${wanted[@]}"
		EDDY_TEST_ONLY=$switched run_plain runtime-setjmp runtime-ucontext
		end_ahead
		if must_configure_asan "$asan_folder" asan; then
			mapfile -t wanted < <(all_but "$asan_folder" "$only_plain")
			run_asan "${wanted[@]}"
		fi
		unset EDDY_TEST_ONCE
		wanted=()
	fi
	if [ ${#wanted[@]} -gt 0 ]; then
		# One that is named twice, as itself and as its suite, makes Meson stumble.
		mapfile -t wanted < <(printf '%s\n' "${wanted[@]}" | sort -u)
		run_plain "${wanted[@]}"
		# These make their own builds: once, in the plain build.
		mapfile -t wanted < <(printf '%s\n' "${wanted[@]}" | grep -vxE 'debian-files|releasing|abi-notices|installed|shown|hardened|machines|gdb-.*|suspends|pages|errors|pictures|interface')
		[ ${#wanted[@]} -eq 0 ] || run_asan "${wanted[@]}"
	fi
	if [ ${#nouns[@]} -gt 0 ]; then
		EDDY_TEST_ONLY=$(IFS=,; printf '%s' "${nouns[*]}")
		export EDDY_TEST_ONLY
		mapfile -t nouns_in < <(printf '%s\n' "${nouns_in[@]}" | sort -u)
		run_plain "${nouns_in[@]}"
		run_asan "${nouns_in[@]}"
		unset EDDY_TEST_ONLY
	fi
	for name in "${parts[@]}"; do
		case $name in
		style) run_style ;;
		*) run_family "$name" ;;
		esac
	done
	tally
}

#!/bin/sh
# tests/proc/boot_container.sh - boots a real systemd in a container and lives with the service: start, reload, death, watchdog, socket, stop.
# Takes minutes, root, debootstrap and systemd-nspawn, so it is run by hand:  PL_BUILD=build/release sh tests/proc/boot_container.sh [FOLDER]
# FOLDER keeps the container's root for the next time. The last line is "N passed, M failed".
set -eu

here=$(cd "$(dirname "$0")/../.." && pwd)
build=${PL_BUILD:-$here/build/release}
root=${1:-}
if [ -z "$root" ]; then
	root=$(mktemp -d)
	chmod 755 "$root" # it becomes /, which other users must be able to enter
	trap 'rm -rf "$root"' EXIT
fi
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
libraries=$(ldd "$build/pipeloaderd" "$build/pipeloaderctl" | awk '$2 == "=>" && $3 ~ "^/" {print $3}' | sort -u)

if [ ! -e "$root/sbin/init" ]; then
	debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus "$suite" "$root"
fi
# The very libraries that the build was made with, instead of a second choice of packages.
for library in $libraries; do
	[ -e "$root$library" ] || install -D "$(readlink -f "$library")" "$root$library"
done
DESTDIR=$root cmake --install "$build" > /dev/null
mkdir -p "$root/etc/pipeloaderd/pipelines"
rm -f "$root/result"
cat > "$root/etc/pipeloaderd/pipelines/numbers.yaml" <<'END'
version: 1
source: {range: {count: 100000}}
workers: {count: 2, steps: [filter: value >= 0]}
post_main: [batch: 100]
END

cat > "$root/usr/local/bin/live" <<'END'
#!/bin/bash
# The container's only job: each line is a test, the result is read from outside.
passed=0 failed=0
ctl="pipeloaderctl"
main_pid() { systemctl show -p MainPID --value pipeloaderd; }
until_true() { for _ in $(seq 600); do "$@" && return 0; sleep 0.1; done; return 1; }
is_active() { [ "$(systemctl is-active pipeloaderd)" = active ]; }
another_main() { is_active && [ "$(main_pid)" != "$1" ] && [ "$(main_pid)" != 0 ]; }
batch() { $ctl cat numbers --batches 1 --json | grep -q '"batch": *0'; }
family() { grep -lEx 'pipeloaderd|pl:.*' /proc/[0-9]*/comm 2>/dev/null | wc -l; }
check() {
	if "${@:2}"; then passed=$((passed + 1)); echo "ok     $1"; else failed=$((failed + 1)); echo "FAILED $1"; fi
}

starts() { systemctl start pipeloaderd && is_active; }
is_confined() { grep -q '^Seccomp:.*2' /proc/$(main_pid)/status && grep -q '^NoNewPrivs:.*1' /proc/$(main_pid)/status; }
reloads() { local p; p=$(main_pid); systemctl reload pipeloaderd && until_true is_active && [ "$(main_pid)" = "$p" ] && batch; }
reload_refuses() {
	local f=/etc/pipeloaderd/pipelines/numbers.yaml
	cp $f /tmp/good; echo "nonsense: 1" >> $f
	systemctl reload pipeloaderd; until_true sh -c "pipeloaderctl status | grep -q nonsense || journalctl -u pipeloaderd | grep -q nonsense"
	local r=$?; batch || r=1; cp /tmp/good $f; systemctl reload pipeloaderd; until_true is_active; return $r
}
survives_kill() { local p; p=$(main_pid); kill -9 "$p"; until_true another_main "$p" && until_true batch; }
survives_hang() { local p; p=$(main_pid); kill -STOP "$p"; until_true another_main "$p" && until_true batch; }
is_socket_activated() { systemctl stop pipeloaderd; ! is_active && batch && is_active; }
is_in_journal() { journalctl -u pipeloaderd -o cat | grep -q 'pipeline=numbers.*ready'; }
other_user_may_not() { ! setpriv --reuid=1 --regid=1 --clear-groups $ctl cat numbers --batches 1 2>/tmp/refused && grep -q 'may not open' /tmp/refused; }
stops() { batch; [ "$(family)" -ge 4 ] && systemctl stop pipeloaderd.socket pipeloaderd && [ "$(family)" = 0 ] && [ ! -e /run/pipeloader/socket ]; }

mkdir -p /etc/systemd/system/pipeloaderd.service.d
printf '[Service]\nWatchdogSec=3\n' > /etc/systemd/system/pipeloaderd.service.d/test.conf
systemctl daemon-reload
check "systemctl start" starts
check "a batch through the service" batch
check "seccomp and no new privileges" is_confined
check "systemctl reload" reloads
check "a broken file is refused at reload" reload_refuses
check "restart after kill -9" survives_kill
check "restart by the watchdog" survives_hang
check "socket activation" is_socket_activated
check "its lines are in the journal" is_in_journal
check "another user may not" other_user_may_not
check "systemctl stop leaves nothing" stops
journalctl -u pipeloaderd -o short-monotonic --no-pager | tail -60 > /journal
echo "$passed passed, $failed failed"
END
chmod 755 "$root/usr/local/bin/live"
cat > "$root/etc/systemd/system/live.service" <<'END'
[Unit]
After=dbus.service
[Service]
Type=oneshot
ExecStart=/bin/sh -c '/usr/local/bin/live > /result 2>&1'
ExecStopPost=/bin/systemctl --no-block poweroff
TimeoutStartSec=300
END
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -sf ../live.service "$root/etc/systemd/system/multi-user.target.wants/live.service"

systemd-nspawn -q -D "$root" --boot --register=no --keep-unit --private-network > "$root/console" 2>&1 < /dev/null || true
if ! grep -q ' failed$' "$root/result" 2> /dev/null; then
	tail -40 "$root/console"
	echo "0 passed, 1 failed"
	exit 1
fi
cat "$root/result"
if ! grep -q ' 0 failed$' "$root/result"; then
	cat "$root/journal"
	tail -1 "$root/result"
	exit 1
fi

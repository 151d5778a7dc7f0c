#!/bin/sh
# Opens a program on a virtual screen and saves a picture of it: window_shot.sh OUT.png PROGRAM [ARGUMENT]...
# Runs inside the sandbox, in the folder of OUT; everything it starts dies with it.
set -u
out=$1
shift
for tool in Xvfb dbus-daemon import xwininfo "$1"; do
  command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2; exit 1; }
done
cd "$(dirname "$out")" || exit 1
mkdir -p runtime .config
chmod 700 runtime
printf '[TipOfDay]\nRunOnStart=false\n' >.config/kcachegrindrc
export XDG_RUNTIME_DIR="$PWD/runtime" XDG_CONFIG_HOME="$PWD/.config" QT_QPA_PLATFORM=xcb QT_ACCESSIBILITY=0 NO_AT_BRIDGE=1

# Xvfb writes the display it chose.
Xvfb -displayfd 9 -screen 0 1400x900x24 -nolisten tcp -noreset 9>display 2>xvfb.log &
screen=$!
trap 'kill $screen 2>/dev/null' EXIT
tries=0
while [ ! -s display ] && [ $tries -lt 50 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
[ -s display ] || { echo "no virtual screen: $(tail -n 2 xvfb.log)" >&2; exit 1; }
export DISPLAY=":$(cat display)"

# Desktop programs want a message bus. The sandbox's user has no name, which the usual configuration cannot bear.
cat >bus.conf <<'END'
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <auth>ANONYMOUS</auth>
  <allow_anonymous/>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
END
dbus-daemon --config-file="$PWD/bus.conf" --print-address=8 --nofork 8>bus 2>bus.log &
bus=$!
trap 'kill $screen $bus 2>/dev/null' EXIT
tries=0
while [ ! -s bus ] && [ $tries -lt 50 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
DBUS_SESSION_BUS_ADDRESS=$(cat bus)
export DBUS_SESSION_BUS_ADDRESS

"$@" >program.log 2>&1 &
# The window is there, then two pictures in a row are the same: it has been drawn.
tries=0
last=none
while [ $tries -lt 40 ]; do
  sleep 0.4
  tries=$((tries + 1))
  xwininfo -root -tree 2>/dev/null | grep -qi "\"[^\"]*$(basename "$1")" || continue
  import -silent -window root png:new.png 2>/dev/null || continue
  now=$(cksum <new.png)
  mv new.png "$out"
  [ "$now" = "$last" ] && [ $tries -gt 4 ] && exit 0
  last=$now
done
[ -s "$out" ] && exit 0
echo "no window came: $(tail -n 2 program.log)" >&2
exit 1

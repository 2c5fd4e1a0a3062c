# What test/campaign/install.ts asks of the installed units, after the blocks of the guide and in the same shell.
# Each line "figure NAME VALUE" is judged there.
figure() { echo "figure $1 $2"; }
now() { date +%s%3N; }
value() { systemctl show --value --property "$2" "$1"; }
order() { runuser -u gannet -- gannet "$1" --state-dir /var/lib/gannet; }

# Whether the present process of a unit has printed something.
printed() {
  local text
  text=$(journalctl --quiet --no-pager --output cat "_SYSTEMD_INVOCATION_ID=$(value "$1" InvocationID)")
  [[ $text == *"$2"* ]]
}

# Waits until units are ready in other processes than before, and the daemon has printed what it should; the figure
# says after how many milliseconds.
await_others() {
  local name=$1 since=$2 expected=$3 unit others
  shift 3
  for _ in $(seq 1000); do
    sleep 0.2
    others=yes
    for unit; do
      [[ $(value "$unit" InvocationID) != "${before[$unit]}" && $(value "$unit" ActiveState) == active ]] || others=no
    done
    if [ $others = yes ] && printed gannet "$expected"; then
      figure "$name" $(($(now) - since))
      return
    fi
  done
  echo "the daemon does not say \"$expected\": $name"
  exit 1
}

# Sends a signal to the first of some units. All of them must get other processes.
disturb() {
  local name=$1 signal=$2 expected=$3 since unit
  shift 3
  for unit; do before[$unit]=$(value "$unit" InvocationID); done
  since=$(now)
  systemctl kill --signal="$signal" "$1"
  await_others "$name" "$since" "$expected" "$@"
}

declare -A before
units='gannet-signer gannet'
# Right after its start the state is "starting"; it is told again three times in the span of the watchdog.
for _ in $(seq 200); do
  [[ $(value gannet StatusText) =~ ^trading,\ [1-9] ]] && break
  sleep 0.2
done
figure status "$(value gannet StatusText)"
for unit in $units; do
  verdict=$(systemd-analyze verify "/etc/systemd/system/$unit.service" 2>&1) || verdict="$verdict (refused)"
  figure "verify:$unit" "${verdict:-clean}"
  figure "exposure:$unit" \
    "$(systemd-analyze security --no-pager $unit | sed -n 's/.*exposure level.*: \([0-9.]*\) .*/\1/p')"
  pid=$(value $unit MainPID)
  figure "process:$unit" "$(ps -o user:32= -p "$pid") $(sed -nE 's/^(NoNewPrivs|Seccomp|CapBnd):\s+/\1=/p' \
    "/proc/$pid/status" | paste -sd ' ')"
done
figure systemd "$(systemctl --version | sed -n '1s/^systemd \([0-9]*\).*/\1/p')"
# The guide has killed the daemon once.
figure restarts "$(value gannet NRestarts)"

# A process that is halted tells the watchdog nothing.
disturb hung SIGSTOP 'landed by' gannet
figure hungBy "$(journalctl --quiet --no-pager --output cat --unit gannet | grep -c 'Watchdog timeout')"
# The third crash within ten minutes.
disturb signerKilled SIGKILL 'safe mode' gannet-signer gannet
since=$(now)
order resume
before[gannet]=none
await_others resumed "$since" 'landed by' gannet
disturb signerHung SIGSTOP 'safe mode' gannet-signer gannet
figure signerHungBy "$(journalctl --quiet --no-pager --output cat --unit gannet-signer | grep -c 'Watchdog timeout')"

# An ordered restart of the signer takes the daemon with it, and is no crash.
for unit in $units; do before[$unit]=$(value $unit InvocationID); done
since=$(now)
systemctl restart gannet-signer
# systemctl waits for the signer alone.
await_others signerRestarted "$since" 'control  ' $units
order resume
await_others signerRestartedResumed "$since" 'landed by' $units

since=$(now)
systemctl stop gannet
figure stopped $(($(now) - since))
figure stopResult "$(value gannet Result)"

# What a person must decide is not started again, and the state names it.
cp /etc/gannet/live.yaml /root/live.yaml
echo 'nonsense: 1' >> /etc/gannet/live.yaml
systemctl start gannet || true
sleep 5
figure refused "$(value gannet ActiveState) $(value gannet ExecMainStatus) $(value gannet NRestarts)"
systemctl status --no-pager gannet > /root/status.txt || true
cat /root/status.txt
figure refusedNamed "$(grep -c nonsense /root/status.txt)"
cat /root/live.yaml > /etc/gannet/live.yaml

since=$(now)
systemctl start gannet
figure ready $(($(now) - since))
order status
await_others started "$since" 'landed by' gannet
systemctl stop $units
for unit in $units; do figure "ended:$unit" "$(value $unit Result)"; done

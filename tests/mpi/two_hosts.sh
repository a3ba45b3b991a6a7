#!/usr/bin/env bash
# Two processes in network namespaces of their own, which meet over a virtual cable as two hosts would.
. "$(dirname "$0")/common.sh"

hosts=(traceloom-$$-a traceloom-$$-b)
end() {
  for host in "${hosts[@]}"; do ip netns delete "$host" 2> /dev/null; done
  rm -rf "$scratch"
}
trap end EXIT
if ! command -v ip > /dev/null || ! ip netns add "${hosts[0]}" 2> /dev/null || ! ip netns add "${hosts[1]}" 2> /dev/null; then
  echo 'skipped: network namespaces cannot be made here'
  exit 0
fi
if ! ip link add tl$$a type veth peer name tl$$b 2> /dev/null; then
  echo 'skipped: virtual cables cannot be made here'
  exit 0
fi
number=1
for end in a b; do
  host=${hosts[number - 1]}
  ip link set tl$$$end netns "$host"
  ip -n "$host" address add 10.213.7.$number/24 dev tl$$$end
  ip -n "$host" link set tl$$$end up
  ip -n "$host" link set lo up
  number=$((number + 1))
done

# What mpirun starts in place of ssh: AGENT HOST COMMAND...
cat > "$scratch/agent" << END
#!/usr/bin/env bash
shift
exec ip netns exec ${hosts[1]} unshare --uts bash -c 'hostname host-b; exec bash -c "\$*"' agent "\$@"
END
chmod +x "$scratch/agent"
printf '10.213.7.1 slots=1\n10.213.7.2 slots=1\n' > "$scratch/hosts"
"$tools/trace-stats" bottleneck "$source_dir/testdata/demo/composer" > "$scratch/one" 2> /dev/null
ip netns exec "${hosts[0]}" unshare --uts bash -c 'hostname host-a; exec "$@"' mpirun \
  timeout 120 mpirun --hostfile "$scratch/hosts" -n 2 --map-by node --bind-to none --mca plm_rsh_agent "$scratch/agent" \
  --mca btl tcp,self --mca btl_tcp_if_include 10.213.7.0/24 --mca oob_tcp_if_include 10.213.7.0/24 \
  "$tools/trace-stats" --mpi bottleneck "$source_dir/testdata/demo/composer" > "$scratch/many" 2> "$scratch/words"
cmp "$scratch/one" "$scratch/many" || fail "two hosts: other bytes; $(cat "$scratch/words")"
exit $failed

#!/bin/sh
# Exits with 0 where the daemon of a state directory answers /healthz. The image has no other HTTP client than Node.
set -eu
home=$(cd "$(dirname "$0")/../.." && pwd)
# Where npm makes no link to it, the package of this machine has it, as bin/gannet knows too.
for node in "$home"/node_modules/.bin/node "$home"/node_modules/node-linux-*/bin/node; do
  [ ! -x "$node" ] || break
done
exec "$node" --input-type=module -e '
import { readFileSync } from "node:fs";
const { url } = JSON.parse(readFileSync(`${process.argv[1]}/control.json`, "utf8"));
const { ok } = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) });
process.exit(ok ? 0 : 1);
' "${1:?expected the state directory}"

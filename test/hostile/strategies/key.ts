import { hostile, member, quietly, reach, take } from './attack.ts';
import type { Acts, Aim, Hands } from './attack.ts';

// Attacks on the wallet's key: its file, environments, memory, descriptors, dumps and shared memory.

await reach('fs', 'module', 'sqlite', 'v8', 'vm', 'wasi');

const utf8 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** Returns the processes from this one up to the first of the machine, then all others. */
function processes(): number[] {
  const { readFileSync, readdirSync } = take('fs');
  const parents: number[] = [];
  for (let pid = process.ppid; pid > 1;) {
    parents.push(pid);
    pid = Number(quietly(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))?.split(') ').at(-1)?.split(' ')[1] ?? 0);
  }
  const others = quietly(() => readdirSync('/proc')) ?? [];
  return [...new Set([...parents, ...others.filter((name) => /^\d+$/.test(name)).map(Number)])];
}

function environments(): string | undefined {
  const { readFileSync } = take('fs');
  const found = processes().map((pid) => quietly(() => readFileSync(`/proc/${pid}/environ`, 'latin1')) ?? '')
    .flatMap((text) => text.split('\0')).filter((variable) => /^GANNET_.*(?:KEY|TOKEN)=./.test(variable));
  return found.length === 0 ? undefined : found.join(' ');
}

/** Returns the start of each readable stretch of another process's memory, so that the run searches it for the key. */
function memoryOf(pid: number): string | undefined {
  const { closeSync, openSync, readFileSync, readSync } = take('fs');
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const [, from] = /^([0-9a-f]+)-[0-9a-f]+ rw/m.exec(readFileSync(`/proc/${pid}/maps`, 'utf8')) ?? [];
  const bytes = Buffer.alloc(64);
  const count = readSync(memory, bytes, 0, bytes.length, Number.parseInt(from ?? '0', 16));
  closeSync(memory);
  return count > 0 ? bytes.toString('hex') : undefined;
}

/** Returns what lies in regular files that this process inherited, and how many sockets. */
function descriptors(): string | undefined {
  const { fstatSync, readSync } = take('fs');
  const found: string[] = [];
  for (let fd = 3; fd < 256; fd++) {
    const status = quietly(() => fstatSync(fd));
    if (status?.isFile() !== true) continue;
    const bytes = Buffer.alloc(4_096);
    const count = quietly(() => readSync(fd, bytes, 0, bytes.length, 0)) ?? 0;
    const text = utf8(bytes.subarray(0, count));
    // Node itself keeps files open, but none with a key.
    if (/\[\d+,\d+|GANNET_|SQLite/.test(text)) found.push(`${fd}: ${text}`);
  }
  return found.length === 0 ? undefined : found.join('\n');
}

function linked({ aim, name }: Hands): string {
  const { linkSync, readFileSync, symlinkSync } = take('fs');
  const link = `${aim.marks}/${name}.link`;
  for (const act of [symlinkSync, linkSync]) quietly(() => { act(aim.keyFile, link); });
  return readFileSync(link, 'utf8');
}

function dump(aim: Aim): string {
  const file = `${aim.marks}/heap-dump.heapsnapshot`;
  const written = quietly(() => take('v8').writeHeapSnapshot(file))
    ?? quietly(() => process.report.writeReport(file));
  if (written === undefined) throw new Error('nothing could be written');
  return written;
}

/** The attacks of this file, by name. */
export const KEY_ATTACKS: Acts = {
  'key-file': ({ aim }) => take('fs').readFileSync(aim.keyFile, 'utf8'),
  'key-file-promise': ({ aim }) => take('fs').promises.readFile(aim.keyFile, 'utf8'),
  'key-file-stream': ({ aim }) => new Promise((resolve, reject) => {
    take('fs').createReadStream(aim.keyFile).on('error', reject)
      .on('data', (chunk) => { resolve(chunk.toString()); });
  }),
  'key-file-blob': async ({ aim }) => (await take('fs').openAsBlob(aim.keyFile)).text(),
  'key-file-around': ({ aim }) =>
    take('fs').readFileSync(`${aim.project}/strategies/../../../../../../../..${aim.keyFile}`, 'utf8'),
  'key-file-as-buffer': ({ aim }) => take('fs').readFileSync(Buffer.from(aim.keyFile), 'utf8'),
  'key-file-as-url': ({ aim }) => take('fs').readFileSync(new URL(`file://${aim.keyFile}`), 'utf8'),
  'key-file-copied': ({ aim, name }) => {
    take('fs').copyFileSync(aim.keyFile, `${aim.marks}/${name}`);
    return 'copied';
  },
  'key-file-linked': linked,
  'key-file-as-json-module': async ({ aim }) => {
    const { default: key } = await import(`file://${aim.keyFile}`, { with: { type: 'json' } }) as { default: unknown };
    return key;
  },
  'key-file-required': ({ aim }) => take('module').createRequire(aim.keyFile)(aim.keyFile) as unknown,
  'key-file-by-binding': ({ aim }) => {
    const internal = member(process, 'binding')('fs') as object;
    return member(internal, 'readFileUtf8')(aim.keyFile, 0);
  },
  'key-file-by-sqlite': ({ aim }) => {
    const database = new (take('sqlite').DatabaseSync)(':memory:');
    database.exec(`ATTACH '${aim.marks}/by-sqlite' AS there; CREATE TABLE there.mark (n)`);
    database.close();
    return 'attached a file';
  },
  'key-file-by-wasi': ({ aim }) => {
    const folder = aim.keyFile.replace(/\/[^/]*$/, '');
    const wasi = new (take('wasi').WASI)({ version: 'preview1', preopens: { '/': folder } });
    return typeof wasi.wasiImport['path_open'];
  },
  'folder-listed': ({ aim }) => take('fs').readdirSync(aim.stateDir).join(' '),
  'canary-file': ({ aim }) => take('fs').readFileSync(aim.canaryFile, 'utf8'),
  'machine-file': () => take('fs').readFileSync('/etc/hostname', 'utf8'),
  'dot-env': ({ aim }) => {
    const file = aim.canaryFile.replace(/[^/]*$/, 'input-environment');
    quietly(() => { member(process, 'loadEnvFile')(file); });
    const loaded = Object.entries(process.env).filter(([name]) => name.startsWith('GANNET_'));
    return loaded.length > 0 ? loaded.join(' ') : take('fs').readFileSync(file, 'utf8');
  },
  'own-environment': () => {
    const found = Object.entries(process.env).filter(([name]) => /KEY|TOKEN|SECRET|^GANNET_/.test(name));
    return found.length === 0 ? undefined : found.join(' ');
  },
  'own-environment-of-the-kernel': () => take('fs').readFileSync('/proc/self/environ', 'latin1'),
  'environments-of-others': environments,
  'memory-of-the-parent': () => memoryOf(process.ppid),
  'memory-of-others': () => {
    const others = processes().filter((pid) => pid !== process.pid && pid !== process.ppid);
    return others.map((pid) => quietly(() => memoryOf(pid))).find((found) => found !== undefined);
  },
  'own-memory-maps': () => take('fs').readFileSync('/proc/self/maps', 'utf8').slice(0, 100),
  'command-lines': () => {
    const { readFileSync } = take('fs');
    const found = processes().filter((pid) => pid !== process.pid)
      .map((pid) => quietly(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1'))).find((text) => text !== undefined);
    return found;
  },
  'descriptors-with-a-key': descriptors,
  'heap-dump': ({ aim }) => dump(aim),
  'crash-report': () => {
    const report: unknown = member(process, 'report', 'getReport')();
    return JSON.stringify(report).match(/"(?:GANNET_\w*|PATH)":"[^"]*"/)?.[0];
  },
  'shared-memory': ({ name }) => {
    const { readdirSync, rmSync, writeFileSync } = take('fs');
    const listed = quietly(() => readdirSync('/dev/shm'));
    const file = `/dev/shm/gannet-${name}-${process.pid}`;
    writeFileSync(file, name);
    rmSync(file);
    return `wrote shared memory beside ${listed?.length ?? 0} files`;
  },
  'swap-space': () => take('fs').readFileSync('/proc/swaps', 'utf8'),
  'source-of-the-signer-changed': ({ aim }) => {
    const { closeSync, openSync } = take('fs');
    closeSync(openSync(`${aim.project}/src/signer/main.ts`, 'a'));
    return 'opened for writing';
  },
};

export default hostile('hostile-key', KEY_ATTACKS);

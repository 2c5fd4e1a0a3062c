import { hostile, quietly, reach, take } from './attack.ts';
import type { Acts, Hands } from './attack.ts';

// Attacks on the files of a run: journal, decision log, recording, counters, control token, commands by file, and code.

await reach('fs', 'sqlite');

/** Returns the files under the state directory whose names match. Throws where it cannot be listed. */
function filesOf({ aim }: Hands, pattern: RegExp): string[] {
  return take('fs').readdirSync(aim.stateDir, { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name)).map((name) => `${aim.stateDir}/${name}`);
}

/** Opens a file for writing without a change to it, which shows that it could be changed. */
function opened(file: string): string {
  const { closeSync, openSync } = take('fs');
  closeSync(openSync(file, 'a'));
  return `opened ${file} for writing`;
}

function openedAny(hands: Hands, pattern: RegExp, guess: string): string {
  const [file = `${hands.aim.stateDir}/${guess}`] = quietly(() => filesOf(hands, pattern)) ?? [];
  // A file that is not there would only be created.
  take('fs').statSync(file);
  return opened(file);
}

function removedAny(hands: Hands, pattern: RegExp, guess: string): string {
  const files = quietly(() => filesOf(hands, pattern)) ?? [];
  const all = files.length > 0 ? files : [`${hands.aim.stateDir}/${guess}`];
  for (const file of all) take('fs').rmSync(file);
  return `removed ${all.join(' ')}`;
}

function created(file: string, text = ''): string {
  take('fs').writeFileSync(file, text);
  return `wrote ${file}`;
}

/** The attacks of this file, by name. */
export const FILE_ATTACKS: Acts = {
  'journal-removed': (hands) => removedAny(hands, /journal\.sqlite$/, 'journal.sqlite'),
  'journal-opened': (hands) => openedAny(hands, /journal\.sqlite$/, 'journal.sqlite'),
  'journal-changed-by-sqlite': ({ aim }) => {
    const database = new (take('sqlite').DatabaseSync)(`${aim.stateDir}/journal.sqlite`);
    database.exec('CREATE TABLE IF NOT EXISTS mark (n)');
    database.close();
    return 'changed the journal';
  },
  'journal-read': ({ aim }) => take('fs').readFileSync(`${aim.stateDir}/journal.sqlite`).subarray(0, 16).toString(),
  'decisions-forged': (hands) => openedAny(hands, /decisions\.ndjson$/, 'runs/run/decisions.ndjson'),
  'manifest-changed': (hands) => openedAny(hands, /runs\/.*manifest\.json$/, 'runs/run/manifest.json'),
  'recording-removed': (hands) => removedAny(hands, /\.arrows?$/, 'recordings/run/quotes.arrow'),
  'recording-changed': (hands) => openedAny(hands, /\.arrows?$/, 'recordings/run/quotes.arrow'),
  'signer-counters-removed': (hands) => removedAny(hands, /signer|spend|caps|counter/, 'signer/spend.sqlite'),
  'signer-counters-changed': (hands) => openedAny(hands, /signer|spend|caps|counter/, 'signer/spend.sqlite'),
  'lock-removed': (hands) => removedAny(hands, /lock/, 'daemon.lock'),
  'log-changed': (hands) => openedAny(hands, /\.log$/, 'logs/gannet.log'),
  'stop-file-created': ({ aim }) => created(`${aim.stateDir}/STOP`, 'closed'),
  'control-token-read': ({ aim }) => take('fs').readFileSync(`${aim.stateDir}/control.json`, 'utf8'),
  'control-token-replaced': ({ aim }) => {
    const { renameSync, writeFileSync } = take('fs');
    writeFileSync(`${aim.marks}/control.json`, '{}');
    renameSync(`${aim.marks}/control.json`, `${aim.stateDir}/control.json`);
    return 'replaced control.json';
  },
  'disk-filled': ({ aim, name }) => created(`${aim.stateDir}/${name}`, 'x'.repeat(1_000_000)),
  'own-code-changed': () => opened(import.meta.filename),
  'code-of-a-neighbour-changed': ({ aim }) => opened(`${aim.project}/strategies/dca.ts`),
  'compiled-code-changed': ({ aim, name }) => {
    const { rmSync, writeFileSync } = take('fs');
    const file = `${aim.project}/node_modules/.cache/gannet/${name}`;
    writeFileSync(file, '');
    rmSync(file);
    return 'wrote among the compiled code';
  },
  'package-changed': ({ aim }) => opened(`${aim.project}/node_modules/rxjs/package.json`),
  'configuration-changed': ({ aim }) => opened(aim.canaryFile.replace(/[^/]*$/, 'input-gannet.yaml')),
  'temporary-file': ({ name }) => {
    const file = `/tmp/gannet-${name}-${process.pid}`;
    take('fs').writeFileSync(file, '');
    take('fs').rmSync(file);
    return 'wrote a temporary file';
  },
  'permissions-changed': ({ aim }) => {
    take('fs').chmodSync(aim.canaryFile, 0o644);
    return 'changed the mode of a file';
  },
  'file-watched': ({ aim }) => {
    take('fs').watch(aim.stateDir).close();
    return 'watched the state directory';
  },
};

export default hostile('hostile-files', FILE_ATTACKS);

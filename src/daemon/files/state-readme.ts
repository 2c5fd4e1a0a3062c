import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of a state directory, as docs/operations/state.md lists them too. */
const STATE_FILES: readonly (readonly [files: string, content: string])[] = [
  ['journal.sqlite, journal.sqlite-wal', 'every swap with its outcome, signed bytes of the newest, the ledger, kept '
    + 'strategy state, what exit rules and retry policies remember'],
  ['executed-orders.sqlite', 'the orders that gannet execute sent, with their ends'],
  ['journal.sqlite.head', 'how far the journal goes'],
  ['signer/signer.sqlite, signer/signer.sqlite-wal', 'the amounts signed away, for signer.caps'],
  ['signer/signer.<wallet>.head', 'the end of these counters'],
  ['control.json', 'how commands reach the daemon'],
  ['control-viewer.json', 'the same for viewers, who read only'],
  ['signals-token', 'the token that other programs need for signals'],
  ['daily-report.json, telegram-NAME.json',
    'the day of the last daily report, and which command by Telegram comes next'],
  ['orders.ndjson', 'every order, with its origin'],
  ['notifications.sqlite', 'messages that their channels have not taken yet, and what is known of each channel'],
  ['history.sqlite', 'samples of equity and prices for people'],
  ['version.json', 'the version that wrote the directory last, and the oldest one that reads it'],
  ['backups/', 'backups without --out, and those before an upgrade'],
  ['replaced-…/, restore.json', 'what a restore has moved aside; the plan of one that is under way'],
  ['host-profiles/', 'what gannet rehearse found of hosts; no secret'],
  ['runs/, recordings/, logs/', 'decisions, market data, the log'],
];

const FILE = 'README.txt';
/** Words of a line of 80 columns, indented by four. */
const LINE = /\S.{0,74}\S(?=\s|$)/g;

/** Returns the text of the file that says what a state directory holds. */
function stateReadme(): string {
  return [
    'The state directory of Gannet. docs/operations/state.md says what the loss of',
    'each file means, how to back them up, and what the retention deletes by itself.',
    'Delete nothing of journal and signer: swaps could be made twice.',
    '',
    ...STATE_FILES.flatMap(([files, content]) => [files, ...(content.match(LINE) ?? []).map((line) => `    ${line}`)]),
    '',
  ].join('\n');
}

/** Writes the file into a state directory, unless it says the same already. Throws the fault of the disk. */
export function writeStateReadme(stateDir: string): void {
  const path = join(stateDir, FILE);
  const text = stateReadme();
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

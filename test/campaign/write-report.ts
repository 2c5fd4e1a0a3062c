import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { crashSection } from '../crash/report.ts';
import { PROJECT } from '../e2e/gannet.ts';
import { packResults, readResults, resultsFile, type ResultLine } from './results.ts';
import { codeVersion } from './tested-code.ts';

const CAMPAIGNS = [
  'crash', 'lies', 'transactions', 'reader', 'canary', 'hash', 'isolation', 'hostile', 'reloads', 'page', 'retention',
  'restarts', 'install', 'container', 'upgrade', 'monitoring',
] as const;

/** Where each campaign's results are. */
export type ReportFiles = Readonly<Record<typeof CAMPAIGNS[number], string>>;

/**
 * Returns what docs/campaigns.md says: of each campaign the command that repeats it, the code it ran on, its seeds and
 * its figures.
 */
export function campaignReport(files: ReportFiles): string {
  return [
    '# Campaigns',
    '',
    'Written by `npm run campaign:report` from what the campaigns left in `test/campaign/results/`. Each runs for',
    'as long as one likes, goes on where it stopped, and names the code that it ran on by a digest. Of crashes',
    'and transactions it is that of all that `gannet run` can come to load (`test/campaign/tested-code.ts`',
    'follows the imports), with `bin`, `strategies` and `config/dialects`: research commands and reports are not',
    'what they test. Of the reader it is that of the signer’s policy, of the rest that of everything. A short',
    'form of each is part of `npm test`.',
    '',
    `The digest of the policy is ${codeVersion('policy').digest}, of the daemon ${codeVersion('daemon').digest}, `
      + `of everything ${codeVersion('everything').digest}.`,
    '',
    ...crashSection(readResults(files.crash), codeVersion('daemon').digest),
    ...liesSection(readResults(files.lies)),
    ...transactionsSection(readResults(files.transactions)),
    ...readerSection(readResults(files.reader)),
    ...canarySection(readResults(files.canary)),
    ...hashSection(readResults(files.hash)),
    ...isolationSection(readResults(files.isolation)),
    ...hostileSection(readResults(files.hostile)),
    ...reloadsSection(readResults(files.reloads)),
    ...pageSection(readResults(files.page)),
    ...retentionSection(readResults(files.retention)),
    ...restartsSection(readResults(files.restarts)),
    ...installSection(readResults(files.install)),
    ...containerSection(readResults(files.container)),
    ...upgradeSection(readResults(files.upgrade)),
    ...monitoringSection(readResults(files.monitoring)),
  ].join('\n');
}

function liesSection(results: readonly ResultLine[]): string[] {
  const lives = results.filter(({ type }) => type === 'life');
  const runs = [...new Set(lives.map(lyingRun))];
  return [
    '## Nodes that lie', '',
    'A real daemon trades on the embedded service and chain, through a line on which the answers of the node are',
    'changed: every lie about statuses, transactions, balances, heights, blockhash validity, the signatures of',
    'the wallet and block times, each alone and every two, while signed bytes land, fail, get lost or land late,',
    'and daemons are killed on the way. No intent may land twice, each swap that landed must be in the journal,',
    'and a swap that was decided on after a lie must be confirmed within a minute: `npm run campaign:lies --',
    '--lies 2000 --seed N`; with `--nodes 2` the daemon has a second node, which does not lie.', '',
    ...table([
      'code', 'seed', 'nodes', 'lies', 'alone or two at a time', 'of them different', 'false answers', 'kills',
      'confirmed', 'failed', 'expired', 'given up', 'slowest to trade on', 'violations',
    ], runs.map((run) => {
      const own = lives.filter((line) => lyingRun(line) === run);
      const sum = (name: string): number => own.reduce((total, line) => total + Number(line[name]), 0);
      const ended = (state: string): number =>
        own.reduce((total, line) => total + Number((line['states'] as Figures)[state] ?? 0), 0);
      const session = results.findLast((line) => line.type === 'session' && lyingRun(line) === run);
      const kinds = new Set(own.flatMap((line) =>
        (line['plans'] as readonly (readonly unknown[])[]).map(([plan]) => plan)));
      return [
        session === undefined ? String(own[0]!['digest']) : versionOf(session), show(own[0]!['seed']),
        show(own[0]!['nodes'] ?? 1), show(sum('lies')), show(sum('times')), show(kinds.size),
        show(sum('answers')), show(sum('kills')),
        ...['confirmed', 'failed', 'expired', 'abandoned'].map((state) => show(ended(state))),
        `${(Math.max(...own.map((line) => Number(line['slowestMs']))) / 1_000).toFixed(1)} s`,
        show(own.reduce((total, line) => total + (line['violations'] as readonly string[]).length, 0)),
      ];
    })),
  ];
}

function transactionsSection(results: readonly ResultLine[]): string[] {
  return [
    '## Hostile transactions', '',
    'Transactions as the embedded service makes them, by every router, for every payer and receiver, must all be',
    'allowed; each mutant of one must be denied with the code that its mutation deserves: `npm run',
    'campaign:transactions -- --mutants 10000 --goldens 2000 --seed N`.', '',
    ...table([
      'code', 'seed', 'goldens', 'denied', 'mutants', 'kinds', 'let through', 'wrong code', 'deserved code named first',
    ], results.filter(({ type }) => type === 'transactions').map((line) => {
      const goldens = line['goldens'] as Figures;
      const mutants = line['mutants'] as Figures;
      return [
        versionOf(line), show(line['seed']), show(goldens['judged']), show(goldens['denied']), show(mutants['judged']),
        show(mutants['kinds']), show(mutants['allowed']), show(mutants['wrongCode']), show(mutants['namedFirst']),
      ];
    })),
  ];
}

function readerSection(results: readonly ResultLine[]): string[] {
  return [
    '## Fuzzing the reader', '',
    'Noise, goldens with damage, two grown together, through the signer’s reader and its whole policy, in a',
    'thread that is watched for hanging (100 ms of its own time for one reading is too much): `npm run',
    'campaign:reader -- --minutes 60 --seed N`.',
    '',
    ...table(['code', 'seed', 'minutes', 'read', 'not readable', 'denied', 'harmless', 'slowest', 'violations'],
      results.filter(({ type }) => type === 'reader').map((line) => [
        versionOf(line), show(line['seed']), Number(line['minutes']).toFixed(0), show(line['read']),
        show(line['unread']), show(line['denied']), show(line['allowed']), `${Number(line['slowestMs']).toFixed(1)} ms`,
        show(line['violations']),
      ])),
  ];
}

function canarySection(results: readonly ResultLine[]): string[] {
  return [
    '## Canaries', '',
    'Invented secrets on error paths of key files, configurations, service and node, in this process and with the',
    'real commands; searched in output, files, answers of the control API, environment and memory of every',
    'process but the signer, in base58, hex, base64 and numbers, any run of 16 characters: `npm run',
    'campaign:canary -- --paths 1000 --seed N`.', '',
    ...table(['code', 'seed', 'error paths', 'traces of processes', 'bytes searched', 'leaks'],
      results.filter(({ type }) => type === 'canary').map((line) => [
        versionOf(line), show(line['seed']),
        show(Object.values(line['paths'] as Readonly<Record<string, number>>).reduce((sum, count) => sum + count, 0)),
        show(line['traces']), show(line['bytes']), show(line['violations']),
      ])),
  ];
}

function hashSection(results: readonly ResultLine[]): string[] {
  return [
    '## The same hash', '',
    'The same backtest (three strategies, warm-up, drawn latencies, all three settings) over a synthetic',
    'recording, again and again: processes in two time zones and locales by turns, in each by turns in the main',
    'thread and in a thread beside it, while another thread keeps a core busy: `npm run campaign:hash --',
    '--repetitions 100 --seed N`.', '',
    ...table([
      'code', 'seed', 'events', 'decisions', 'fills', 'repetitions', 'processes', 'minutes', 'different hashes',
      'violations',
    ], results.filter(({ type }) => type === 'hash').map((line) => [
      versionOf(line), show(line['seed']), show(line['events']), show(line['decisions']), show(line['fills']),
      show(line['repetitions']), show(line['processes']), Number(line['minutes']).toFixed(1),
      show(Object.keys(line['hashes'] as Figures).length), show(line['violations']),
    ])),
  ];
}

function isolationSection(results: readonly ResultLine[]): string[] {
  return [
    '## Strategies in processes of their own', '',
    'The daemon runs the demonstration and a configuration of ten busy strategies, with the strategies in',
    'processes of their own. Each run is then repeated by turns in one process and with processes for the',
    'strategies, while two other threads keep the cores busy. Each repetition must come to the hash of the run:',
    '`npm run campaign:isolation -- --repetitions 100 --seconds 60`.', '',
    ...table([
      'code', 'run', 'seconds', 'events', 'decisions', 'repetitions', 'different hashes', 'violations',
    ], results.filter(({ type }) => type === 'isolation').map((line) => [
      versionOf(line), String(line['run']), show(line['seconds']), show(line['events']), show(line['decisions']),
      show(line['repetitions']), show(Object.keys(line['hashes'] as Figures).length), show(line['violations']),
    ])),
  ];
}

function reloadsSection(results: readonly ResultLine[]): string[] {
  return [
    '## Reloads under load', '',
    'A daemon with five strategies trades without a pause on a sandbox, while one reload follows the other: of the',
    'same version, of other text, of parameters to and fro, and of all that has changed. The replay of the run must',
    'come to its hash. Its inputs without the reloads, in the code of its start, must lead to the same decisions,',
    'apart from their numbers and from one strategy whose parameters change what it says. The journal must agree',
    'with the chain. The memory of the daemon and of its processes of strategies, and the open files of the daemon,',
    'are those of the first and the last of twenty samples: `npm run campaign:reloads -- --reloads 1000 --mode live`.',
    '',
    ...table([
      'code', 'mode', 'reloads', 'switches', 'with a swap under way', 'decisions', 'compared', 'confirmed', 'minutes',
      'daemon, MB', 'processes, MB', 'open files', 'violations',
    ], results.filter(({ type }) => type === 'reloads').map((line) => {
      const footprints = line['footprints'] as readonly Figures[];
      const ordered = Object.values(line['ordered'] as Readonly<Record<string, number>>);
      const course = (name: string): string => `${show(footprints[0]![name])} → ${show(footprints.at(-1)![name])}`;
      return [
        versionOf(line), String(line['mode']), show(ordered.reduce((sum, count) => sum + count, 0)),
        show(line['switches']),
        show(line['inFlight']), show(line['decisions']), show(line['compared']),
        show((line['intents'] as Figures)['confirmed'] ?? 0), show(Math.round(Number(line['seconds']) / 60)),
        course('residentMb'), course('hostsMb'), course('openFiles'), show(line['violations']),
      ];
    })),
  ];
}

function pageSection(results: readonly ResultLine[]): string[] {
  return [
    '## Open pages', '',
    'A live daemon with 500 feeds of 5 s in 20 strategies, a swap every 10 s, a decision that is refused a hundred',
    'times a second, and 50 open pages that also read their tables. Windows of 5 s: the p99 delay of the event loop,',
    'and the memory of all processes of the daemon (PSS). Both are the medians of each sixth of the run. The last',
    'sixth may hold 5 % more memory than the first: `npm run campaign:page -- --minutes 60`.', '',
    ...table(['code', 'minutes', 'memory, MB', 'p99 delay, ms', 'growth', 'violations'],
      results.filter(({ type }) => type === 'page').map((line) => [
        versionOf(line), show(line['minutes']),
        (line['pssMb'] as readonly number[]).map((mb) => mb.toFixed(0)).join(', '),
        (line['loopDelayP99Ms'] as readonly number[]).map((ms) => ms.toFixed(1)).join(', '),
        `${(Number(line['growth']) * 100).toFixed(1)} %`, show(line['violations']),
      ])),
  ];
}

function megabytes(bytes: unknown): string {
  return (Number(bytes) / 1e6).toFixed(1);
}

function retentionSection(results: readonly ResultLine[]): string[] {
  return [
    '## Months on one disk', '',
    'The recorder, the log, the files of a run, the journal and the history write at the rate of the demonstration in',
    'virtual time, and the pruning of a run follows each hour. The state directory must stay within its budget, and',
    'profit must still be computed from every swap: `npm run campaign:retention -- --days 90`. With `--share 0.1` it',
    'is a tenth of the rate with a tenth of every size.', '',
    ...table([
      'code', 'days', 'share of the rate', 'swaps', 'quotes', 'bytes a quote', 'budget, MB', 'most, MB', 'end, MB',
      'recordings', 'runs', 'logs', 'journal', 'history', 'minutes', 'violations',
    ], results.filter(({ type }) => type === 'retention').map((line) => {
      const last = line['last'] as Figures;
      return [
        versionOf(line), show(line['days']), show(line['share']), show(line['swaps']), show(line['quotes']),
        Number(line['bytesPerQuote']).toFixed(1), megabytes(line['budget']), megabytes(line['most']),
        megabytes(line['end']),
        ...['recordings', 'runs', 'logs', 'journal', 'history'].map((kind) => megabytes(last[kind])),
        show(Math.round(Number(line['minutes']))), show(line['violations']),
      ];
    })),
  ];
}

interface RestartKill {
  readonly victim: string;
  readonly back: string;
  readonly backMs: number;
  readonly starvedMs: number;
}

function lyingRun({ digest, seed, nodes = 1 }: ResultLine): string {
  return [digest, seed, nodes].map(String).join(' ');
}

function secondsText(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function middleOf(list: readonly number[]): number {
  return list[Math.floor(list.length / 2)] ?? 0;
}

function monitoringSection(results: readonly ResultLine[]): string[] {
  const figures = ['cases', 'rules', 'expressions', 'withValue', 'panels', 'refused'];
  return ['## Monitoring', '',
    'promtool runs the cases of the alert rules. A real Prometheus scrapes a trading daemon, evaluates each rule and',
    'answers each expression of the dashboard. Its JSON must fit the types that Grafana publishes, and planted faults',
    'must not. No Grafana has drawn it: `npm run campaign:monitoring`.', '',
    ...table(['code', 'cases', 'rules', 'expressions', 'with a value', 'panels', 'faults refused', 'violations'],
      results.map((line) => [versionOf(line), ...figures.map((name) => show(line[name])),
        show((line['violations'] as readonly string[]).length)]))];
}

function restartsSection(results: readonly ResultLine[]): string[] {
  const lives = results.filter(({ type }) => type === 'restarts');
  const runs = [...new Set(lives.map(({ digest, seed }) => `${String(digest)} ${String(seed)}`))];
  return [
    '## Kills under the units', '',
    'A daemon trades without a pause on a sandbox that outlives it. A supervisor that reads the files of',
    '`deploy/systemd` starts signer and daemon, and starts them again by their rules. SIGKILL hits the daemon, its',
    'signer, the processes of its strategies, or all of them, at random times; every third life is one unit that',
    'starts its own signer. After each kill the run must trade again, or be in safe mode with an alert, within ten',
    'seconds, apart from the time in which the new processes were ready to run and the machine ran others. An',
    'operator ends the safe mode now and then, or restarts the units. At the end of a life of ten kills, journal and',
    'chain must agree: nothing twice, nothing lost: `npm run campaign:restarts -- --kills 200 --seed N`.', '',
    ...table([
      'code', 'seed', 'kills', 'daemon', 'signer', 'strategies', 'everything', 'back to trading', 'safe mode',
      'median', 'slowest', 'median and slowest without waits', 'ordered stops, slowest', 'confirmed', 'violations',
    ], runs.map((run) => {
      const own = lives.filter(({ digest, seed }) => `${String(digest)} ${String(seed)}` === run);
      const kills = own.flatMap((line) => line['kills'] as readonly RestartKill[]);
      const stops = own.flatMap((line) => line['stopMs'] as readonly number[]);
      const count = (member: 'victim' | 'back', value: string): string =>
        show(kills.filter((kill) => kill[member] === value).length);
      const sorted = (of: (kill: RestartKill) => number): readonly number[] => kills.map(of).sort((a, b) => a - b);
      const [all, ran] = [sorted(({ backMs }) => backMs), sorted(({ backMs, starvedMs }) => backMs - starvedMs)];
      return [
        versionOf(own[0]!), show(own[0]!['seed']), show(kills.length), count('victim', 'daemon'),
        count('victim', 'signer'), count('victim', 'strategies'), count('victim', 'everything'),
        count('back', 'trading'), count('back', 'safe mode'), secondsText(middleOf(all)), secondsText(all.at(-1) ?? 0),
        `${secondsText(middleOf(ran))}, ${secondsText(ran.at(-1) ?? 0)}`,
        `${show(stops.length)}, ${secondsText(Math.max(0, ...stops))}`,
        show(own.reduce((sum, line) => sum + Number((line['states'] as Figures)['confirmed'] ?? 0), 0)),
        show(own.reduce((sum, line) => sum + (line['violations'] as readonly string[]).length, 0)),
      ];
    })),
  ];
}

function installSection(results: readonly ResultLine[]): string[] {
  return [
    '## The install guide', '',
    'Each block of [operations/install.md](operations/install.md), as it stands and in its order, on a fresh Debian 12',
    'from `debootstrap` that its own systemd has booted in `systemd-nspawn`. The configuration is that of a sandbox.',
    'Then the installed units are examined: `systemd-analyze`, kills and halts of both, the watchdog, safe',
    'mode, stops, and a configuration that is refused. Times are in seconds, on a busy machine:',
    '`npm run campaign:install`, as root.', '',
    ...table([
      'code', 'blocks', 'systemd', 'exposure of daemon and signer', 'hung daemon trades again',
      'signer killed, daemon back', 'ready after', 'stop', 'confirmed', 'violations',
    ], results.filter(({ type }) => type === 'install').map((line) => {
      const figures = line['figures'] as Readonly<Record<string, string>>;
      const seconds = (name: string): string => (Number(figures[name]) / 1_000).toFixed(1);
      return [
        versionOf(line), show(line['blocks']), String(figures['systemd']),
        `${figures['exposure:gannet']}, ${figures['exposure:gannet-signer']}`,
        ...['hung', 'signerKilled', 'ready', 'stopped'].map(seconds), show(line['confirmed']),
        show((line['violations'] as readonly string[]).length),
      ];
    })),
  ];
}

function containerSection(results: readonly ResultLine[]): string[] {
  return [
    '## The containers', '',
    'The image of `deploy/container/Containerfile`, built by podman on base images that `debootstrap` makes: no',
    'registry is asked. Both services run with the settings of `compose.yaml`, without its count of log files, on',
    'the network of the machine, where the sandbox is. They trade, are killed, come back, and are stopped. Users and',
    'what they can write are examined. Times are in seconds: `npm run campaign:container`, as root.', '',
    ...table([
      'code', 'healthy: signer, daemon', 'killed daemon trades again', 'after a kill of the signer',
      'stop: daemon, signer', 'confirmed', 'violations',
    ], results.filter(({ type }) => type === 'container').map((line) => {
      const figures = line['figures'] as Figures;
      const seconds = (name: string): string => (Number(figures[name]) / 1_000).toFixed(1);
      return [
        versionOf(line), `${seconds('signerHealthyMs')}, ${seconds('daemonHealthyMs')}`, seconds('daemonKilledMs'),
        seconds('signerKilledMs'), `${seconds('daemonStopMs')}, ${seconds('signerStopMs')}`, show(figures['confirmed']),
        show((line['violations'] as readonly string[]).length),
      ];
    })),
  ];
}

function courseOf(figures: unknown): string {
  return (figures as readonly number[]).map(show).join(' → ');
}

function upgradeSection(results: readonly ResultLine[]): string[] {
  return [
    '## Upgrade and rollback', '',
    'A daemon of an earlier commit trades on a sandbox and is killed. The present code takes over its state directory',
    'and trades. Then follow the steps of [operations/upgrade.md](operations/upgrade.md): the backup is restored, the',
    'earlier code must refuse with `JOURNAL_LOST`, and it trades again once the journal is accepted. No swap may be',
    'lost, land twice or be unknown to the journals: `npm run campaign:upgrade -- --from COMMIT --times 3 --seed N`.',
    '',
    ...table(['code', 'from', 'seed', 'formats of the journal', 'confirmed in each part', 'violations'],
      results.filter(({ type }) => type === 'upgrade').map((line) => [
        versionOf(line), String(line['from']), show(line['seed']), courseOf(line['formats']),
        courseOf(line['confirmed']),
        show((line['violations'] as readonly string[]).length),
      ])),
  ];
}

function hostileSection(results: readonly ResultLine[]): string[] {
  const lines = results.filter(({ type }) => type === 'hostile');
  const runs = [...new Set(lines.map(hostileRun))];
  return [
    '## Hostile strategies', '',
    'Every attack of `test/hostile/catalogue.ts`. “open”: in the engine’s own process, where each attack with an',
    'evidence must show that it works. “box”: in the box of a strategy’s process, without what that process removes',
    'from itself; nothing may be gained. “live” and “paper”: in runs beside two honest strategies, alone or several',
    'together. No secret may leave, nothing may be signed without a ruling, the neighbours must decide as they do',
    'without the attackers, the daemon must go on and end in order, and each culprit must be named. “refused”:',
    'attacks that act before a run begins. `npm run campaign:hostile -- --parts live,paper --together 1`.', '',
    ...table(['code', 'where', 'alone', 'attacks', 'minutes', 'violations'], runs.map((run) => {
      const own = lines.filter((line) => hostileRun(line) === run);
      const names = new Set(own.flatMap((line) => line['attacks'] as readonly string[]));
      return [
        versionOf(own[0]!), String(own[0]!['part']), own[0]!['alone'] === true ? 'yes' : 'no', show(names.size),
        (own.reduce((sum, line) => sum + Number(line['seconds']), 0) / 60).toFixed(1),
        show(own.reduce((sum, line) => sum + (line['violations'] as readonly string[]).length, 0)),
      ];
    })),
  ];
}

function hostileRun(line: ResultLine): string {
  return [line['digest'], line['part'], line['alone']].map(String).join(' ');
}

type Figures = Readonly<Record<string, unknown>>;

function show(value: unknown): string {
  return typeof value === 'number' ? value.toLocaleString('en-US') : JSON.stringify(value) ?? 'none';
}

function versionOf(line: ResultLine): string {
  return `${String(line['commit'])} (${String(line['digest'])})`;
}

/** Returns a table of Markdown, and a sentence where there is nothing to put into it. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return ['It has not run yet.', ''];
  return [
    `| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
  ];
}

/** `node test/campaign/write-report.ts [--crash FILE] [--lies FILE] …`: with another file for any campaign. */
function main(): void {
  const { values } = parseArgs({ options: Object.fromEntries(CAMPAIGNS.map((name) =>
    [name, { type: 'string' as const, default: resultsFile(name) }])) });
  const files = values as ReportFiles;
  for (const file of Object.values(files)) packResults(file);
  writeFileSync(join(PROJECT, 'docs', 'campaigns.md'), campaignReport(files));
}

if (import.meta.main) main();

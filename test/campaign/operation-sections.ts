import { show, table, versionOf, type Figures, type ResultLine } from './results.ts';

/** The campaigns on a daemon that runs for months, and on its installation, in the order of their sections. */
export const OPERATION_CAMPAIGNS = [
  'reloads', 'page', 'retention', 'restarts', 'install', 'container', 'upgrade', 'monitoring', 'arm64',
] as const;

/** Returns the sections of docs/campaigns.md about those campaigns. */
export function operationSections(
  resultsOf: (campaign: typeof OPERATION_CAMPAIGNS[number]) => readonly ResultLine[],
): string[] {
  return [
    ...reloadsSection(resultsOf('reloads')),
    ...pageSection(resultsOf('page')),
    ...retentionSection(resultsOf('retention')),
    ...restartsSection(resultsOf('restarts')),
    ...installSection(resultsOf('install')),
    ...containerSection(resultsOf('container')),
    ...upgradeSection(resultsOf('upgrade')),
    ...monitoringSection(resultsOf('monitoring')),
    ...arm64Section(resultsOf('arm64')),
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

function secondsText(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function middleOf(list: readonly number[]): number {
  return list[Math.floor(list.length / 2)] ?? 0;
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

function arm64Section(results: readonly ResultLine[]): string[] {
  return [
    '## Linux on arm64', '',
    'A fresh Debian 12 for arm64 gets the commit of the checkout and a Node 20. There `npm ci` and `npm start` run',
    'under the emulator qemu-user-static. The run trades on the embedded chain, and its replay must give the same',
    'decisions. The emulator is about ten times slower, so strategies may take more time and memory than by default:',
    '`npm run campaign:arm64`, as root.', '',
    ...table(['code', 'npm ci, s', 'run, s', 'confirmed', 'decisions', 'violations'],
      results.filter(({ type }) => type === 'arm64').map((line) => [
        versionOf(line), show(line['installSeconds']), show(line['runSeconds']), show(line['confirmed']),
        show(line['decisions']), show(line['violations']),
      ])),
  ];
}

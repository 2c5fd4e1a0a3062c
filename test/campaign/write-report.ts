import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { crashSection } from '../crash/report.ts';
import { PROJECT } from '../e2e/gannet.ts';
import { OPERATION_CAMPAIGNS, operationSections } from './operation-sections.ts';
import {
  packResults, readResults, resultsFile, show, table, versionOf, type Figures, type ResultLine,
} from './results.ts';
import { codeVersion } from './tested-code.ts';

const CAMPAIGNS = [
  'crash', 'lies', 'transactions', 'reader', 'canary', 'hash', 'isolation', 'hostile', ...OPERATION_CAMPAIGNS,
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
    ...operationSections((campaign) => readResults(files[campaign])),
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

function lyingRun({ digest, seed, nodes = 1 }: ResultLine): string {
  return [digest, seed, nodes].map(String).join(' ');
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

/** `node test/campaign/write-report.ts [--crash FILE] [--lies FILE] …`: with another file for any campaign. */
function main(): void {
  const { values } = parseArgs({ options: Object.fromEntries(CAMPAIGNS.map((name) =>
    [name, { type: 'string' as const, default: resultsFile(name) }])) });
  const files = values as ReportFiles;
  for (const file of Object.values(files)) packResults(file);
  writeFileSync(join(PROJECT, 'docs', 'campaigns.md'), campaignReport(files));
}

if (import.meta.main) main();

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { exampleYaml } from './example-yaml.ts';
import type { CommandContext, RunCommand } from '../../command.ts';
import { example } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import type { Fact } from '../../output/table.ts';
import { facts, table } from '../../output/table.ts';
import { requestRate } from '../../../config/request-rate.ts';
import { watchedBy } from '../../../config/run-config.ts';
import { readAnswer } from '../../../config/strategies/read-answer.ts';
import type { DescribedParam } from '../../../config/strategies/describe-params.ts';
import type { StrategyFile } from '../../../config/strategy-file.ts';
import { findStrategy, listStrategies, loadFault, shippedConfig } from '../../../config/strategy-file.ts';
import { STRATEGIES_DIR } from '../../../core/code-files.ts';
import { GannetError } from '../../../core/errors.ts';
import { printable } from '../../../core/text.ts';
import { formatDuration } from '../../../core/time.ts';
import type { StrategyHosts } from '../../../daemon/hosts/host-generations.ts';
import { openHosts } from '../../../daemon/hosts/strategy-hosts.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import { feedKey } from '../../../market/feed.ts';
import { describeFeedKey } from '../../../market/market-text.ts';

/** The bounds of a strategy that is asked about itself. */
const ISOLATION = { kind: 'shared', callMs: 250, memoryMb: 160 } as const;
/** The strategies of an author's project. */
const OWN_FOLDER = 'strategies';

/** What a strategy says about itself. */
interface Description {
  readonly name: string;
  readonly summary: string;
  readonly losesMoneyWhen?: string | undefined;
  readonly params: readonly DescribedParam[];
}

/** Adds the commands that list and describe strategies. */
export function addDescriptions(group: Command, run: RunCommand): void {
  group.command('list')
    .description(`lists the strategies that come with Gannet, and those of the folder ${OWN_FOLDER}/ here`)
    .action(run(list));
  group.command('describe <strategy>')
    .description('shows what a strategy does, when it loses money, its parameters, what it watches and a configuration '
      + 'that runs it. Takes a name of strategies/, a file, or a package')
    .addHelpText('after', example('gannet strategy describe mean-reversion'))
    .action(run(describe));
}

async function list({ terminal }: CommandContext): Promise<ExitCode> {
  const own = resolve(OWN_FOLDER);
  const uses = [
    ...await listStrategies(STRATEGIES_DIR),
    ...(existsSync(own) && own !== resolve(STRATEGIES_DIR) ? await listStrategies(own) : [])
      .map((name) => `./${OWN_FOLDER}/${name}.ts`),
  ];
  const rows = await asking(async (hosts) => Promise.all(uses.map(async (use) => {
    const said = await askIfPossible(hosts, use, await found(use));
    return { use, ...(typeof said === 'string' ? { fault: said } : { summary: said.summary }) };
  })));
  terminal.result({ strategies: rows }, () => table([
    ['use', 'what it does'], ...rows.map(({ use, ...said }) => [use, 'fault' in said ? said.fault : said.summary]),
  ]));
  return rows.some((row) => 'fault' in row) ? EXIT.failed : EXIT.done;
}

async function describe(context: CommandContext, use: string): Promise<ExitCode> {
  const strategy = await found(use);
  const description = await asking((hosts) => askIfPossible(hosts, use, strategy));
  if (typeof description === 'string') throw new GannetError('STRATEGY_INVALID', description);
  const shipped = shippedConfig(strategy);
  const yaml = shipped === undefined ? exampleYaml(use, description.params) : readFileSync(shipped, 'utf8');
  const watched = await watchedWith(context, shipped
    ?? exampleYaml(use.startsWith('npm:') ? use : strategy.file, description.params), strategy.file);
  const { name, summary, losesMoneyWhen, params } = description;
  context.terminal.result({
    name, file: strategy.file, summary, loses_money_when: losesMoneyWhen ?? null,
    params: params.map(({ isNeeded, fallback, example: given, ...param }) => ({
      ...param, needed: isNeeded, default: fallback === undefined ? null : JSON.parse(fallback) as unknown,
      example: given === undefined ? null : JSON.parse(given) as unknown,
    })),
    inputs: 'fault' in watched ? null : watched.inputs,
    requests_per_second: 'fault' in watched ? null : watched.requestsPerSecond,
    example: yaml,
  }, () => `${printable(name)}\n`
    + facts([
      ['what it does', summary],
      ['loses money when', losesMoneyWhen ?? 'it does not say'],
      ['file', shortPath(strategy.file)],
      ...watchedFacts(watched),
    ]) + paramsText(params)
    + `\n  ${shipped === undefined ? 'A configuration that runs it' : shortPath(shipped)}:\n\n`
    + indented(shipped === undefined ? yaml : withoutComments(yaml)));
  return EXIT.done;
}

function paramsText(params: readonly DescribedParam[]): string {
  if (params.length === 0) return '\n  It takes no parameters.\n';
  return `\n${table([['parameter', 'type', 'default', 'meaning'], ...params.map((param) => [
    param.name, param.type, param.isNeeded ? 'needed' : param.fallback ?? 'none', param.description ?? '',
  ])])}`;
}

type Watched = { readonly fault: string } | {
  readonly inputs: readonly { readonly name: string; readonly feed: string; readonly text: string }[];
  readonly requestsPerSecond: number;
  readonly nodeRequestsPerSecond: number;
};

function watchedFacts(watched: Watched): Fact[] {
  if ('fault' in watched) {
    return [['inputs', `they depend on the parameters, and the example below is refused: ${watched.fault}. State `
      + 'values in the schema with .meta({ examples: [value] })']];
  }
  const { inputs, requestsPerSecond, nodeRequestsPerSecond } = watched;
  return [
    ['inputs', inputs.length === 0 ? 'none' : inputs.map(({ name, text }) => `${name}: ${text}`)],
    ['requests', `${requestsPerSecond} a second with the parameters below`],
    ...(nodeRequestsPerSecond === 0 ? [] : [['at the node', `${nodeRequestsPerSecond} a second`] as const]),
  ];
}

/** Returns what a strategy watches in a configuration, which is a file or a text. */
async function watchedWith(context: CommandContext, yaml: string, file: string): Promise<Watched> {
  const directory = mkdtempSync(join(tmpdir(), 'gannet-describe-'));
  try {
    const config = isAbsolute(yaml) ? yaml : join(directory, 'example.yaml');
    if (config !== yaml) writeFileSync(config, yaml);
    const { readWatched } = await import('../recording/generate-watched.ts');
    const loaded = await readWatched(context, config);
    if (!loaded.ok) return { fault: loaded.issues[0]!.message };
    const strategies = loaded.config.strategies.filter((strategy) => strategy.file === file).slice(0, 1);
    const { requestsPerSecond, nodeRequestsPerSecond } = requestRate({ ...loaded.config, strategies });
    return {
      requestsPerSecond, nodeRequestsPerSecond,
      inputs: strategies.flatMap(watchedBy).map(({ name, spec }) => ({
        name: printable(name), feed: feedKey(spec),
        text: printable(describeFeedKey(loaded.config.tokens, feedKey(spec)))
          + `, every ${formatDuration(spec.everyMs)}`,
      })),
    };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function found(use: string): Promise<StrategyFile> {
  const file = await findStrategy(use, { strategiesDir: STRATEGIES_DIR, baseDir: process.cwd() });
  if (typeof file === 'string') throw new GannetError('STRATEGY_NOT_FOUND', file);
  return file;
}

async function asking<T>(work: (hosts: StrategyHosts) => Promise<T>): Promise<T> {
  const hosts = openHosts({ clock: systemClock });
  try {
    return await work(hosts);
  } finally {
    await hosts.close();
  }
}

/** Returns what a strategy says about itself, asked in a process of its own, or why it says nothing. */
async function askIfPossible(
  hosts: StrategyHosts, use: string, { file, origin }: StrategyFile,
): Promise<Description | string> {
  const reading = await hosts.load({ use, file, origin, isolation: ISOLATION })
    .read({ params: undefined, tokens: [], name: undefined, seed: 1 });
  const name = printable(basename(file));
  if ('ended' in reading) return `${name}: ${reading.ended}`;
  const answer = readAnswer(reading.answer);
  if (answer.kind === 'loaded') return answer;
  if (answer.kind === 'not-loaded' || answer.kind === 'no-strategy') return loadFault(use, answer);
  return `${name}: ${answer.kind === 'refused-answer' ? answer.why : 'it answers a question that was not asked'}`;
}

function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

/** Returns a shipped configuration without its comments, which are wider than a terminal. */
function withoutComments(yaml: string): string {
  return yaml.replace(/^ *#.*\n/gm, '').replace(/ +# .*$/gm, '').replace(/^\n+/, '');
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

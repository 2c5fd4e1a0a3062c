import type { CommandContext, CommandModule } from '../../command.ts';
import type { FoundDecision } from './find-decision.ts';
import { findDecision } from './find-decision.ts';
import { EXIT } from '../../exit-codes.ts';
import { clockTime } from '../../output/figures.ts';
import { intentFacts, proposalText } from '../../output/intent-text.ts';
import { facts, table } from '../../output/table.ts';
import { parseJson } from '../../../core/json.ts';
import { printable } from '../../../core/text.ts';
import { roughDuration } from '../../../core/time.ts';
import type { RunDirectory } from '../../../daemon/files/find-run.ts';
import { chosenRun } from '../../../daemon/files/find-run.ts';
import { readDecisions } from '../../../daemon/files/run-files.ts';
import type { LoggedDecision } from '../../../engine/decision-log.ts';
import { withTokenNames } from '../../../market/market-text.ts';
import { tokenTable } from '../../../market/token.ts';
import type { DenialCode } from '../../../trading/limits.ts';
import { DENIALS } from '../../../trading/limits.ts';
import type { Proposal } from '../../../trading/proposal.ts';

export const explainCommand: CommandModule = (program, run) => {
  program.command('explain [decision]')
    .description(
      'a decision and its reasons, by its number, its swap or the start of its hash; without one, the latest decisions',
    )
    .option('--run <run>', 'a run by its id or folder (default: the running daemon, else the latest run)')
    .action(run(async (
      context: CommandContext, reference: string | undefined, { run: name }: { readonly run?: string },
    ) => {
      if (reference === undefined) {
        const chosen = chosenRun(context.options.stateDir, name);
        const decisions = latestDecisions(chosen);
        context.terminal.result(decisions, () => decisionListText(chosen, decisions));
        return EXIT.done;
      }
      const found = await findDecision(context, reference, name);
      context.terminal.result(explanationJson(found), () => explanationText(found));
      return EXIT.done;
    }));
};

function explanationJson({ run, logged, record, why, intent }: FoundDecision): unknown {
  return {
    run_id: run.manifest.run_id,
    ...logged,
    meaning: meaningOf(logged.code) ?? null,
    reason: record?.reason ?? null,
    intent_id: record?.intent_id ?? null,
    saw: record?.saw ?? null,
    held: record?.held ?? null,
    trading: record?.trading ?? null,
    strategy_trading: record?.strategy_trading ?? null,
    flattening: record?.flattening ?? null,
    intent: intent ?? null,
    note: why ?? null,
  };
}

function explanationText({ run, logged, record, why, intent }: FoundDecision): string {
  const tokens = tokenTable(run.manifest.config.tokens);
  const { seq, at, strategy, proposal, verdict, code, h } = logged;
  return facts([
    ['decision', `${seq} of run ${run.manifest.run_id}, at ${clockTime(at)} UTC`],
    ['strategy', strategy],
    ['proposed', `${proposalText(tokens, proposal)}${mannerText(proposal)}`],
    ['because', proposal.kind === 'swap' ? withTokenNames(tokens, proposal.reason) : undefined],
    ['verdict', verdict === 'approved' ? 'approved'
      : `denied, ${code ?? ''}: ${meaningOf(code) ?? 'unknown to this version'}`],
    ['reason', record?.reason === undefined || record.reason === null ? undefined
      : withTokenNames(tokens, record.reason)],
    ['inputs', record?.saw.map(({ watches, age_ms: age, reading }) =>
      `${watches}${age === null ? '' : `, ${roughDuration(age)} old`}${reading === null ? '' : `: ${reading}`}`)],
    ['holdings', record === undefined || record.held.length === 0 ? undefined : record.held.join(', ')],
    ['trading', record === undefined ? undefined : tradingOf(record)],
    ...(intent === undefined ? [] : intentFacts(intent, tokens).filter(([name]) => name !== 'why')),
    ['hash', h],
    ['more', why === undefined ? undefined : `its inputs are not known: ${why}`],
  ]);
}

function tradingOf({ trading, strategy_trading: own, flattening }: NonNullable<FoundDecision['record']>): string {
  return [
    `${trading} for all strategies`, ...(own === 'active' ? [] : [`${own} for this strategy`]),
    ...(flattening ? ['this strategy was being flattened'] : []),
  ].join(', ');
}

function mannerText(proposal: Proposal): string {
  if (proposal.kind === 'alert') return '';
  const { route, key } = proposal;
  return `${route === undefined ? '' : `, route "${route}"`}${key === undefined ? '' : `, once per key "${key}"`}`;
}

function meaningOf(code: string | null): string | undefined {
  return code !== null && Object.hasOwn(DENIALS, code) ? DENIALS[code as DenialCode].meaning : undefined;
}

const LATEST_MAX = 20;
const PROPOSED_CHARACTERS_MAX = 80;

/** Returns the latest decisions of a run, newest first. Throws RUN_NOT_FOUND and RECORDING_CORRUPT. */
export function latestDecisions({ dir }: RunDirectory): LoggedDecision[] {
  return readDecisions(dir).slice(-LATEST_MAX).reverse()
    .map(({ line }) => parseJson(line) as unknown as LoggedDecision);
}

/** Returns decisions as text, one a line, with the number that "gannet explain" takes. */
export function decisionListText({ manifest }: RunDirectory, decisions: readonly LoggedDecision[]): string {
  if (decisions.length === 0) return `  run ${manifest.run_id} has decided nothing\n`;
  const tokens = tokenTable(manifest.config.tokens);
  return table([
    ['number', 'decided, UTC', 'strategy', 'proposed', 'verdict'],
    ...decisions.map(({ seq, at, strategy, proposal, code }) => [
      String(seq), clockTime(at), strategy, printable(proposalText(tokens, proposal), PROPOSED_CHARACTERS_MAX),
      code === null ? 'approved' : `denied, ${code}`,
    ]),
  ], { right: [0] });
}

import { roughDuration } from '../core/time.ts';
import { spoken } from '../market/market-text.ts';
import { tokenTable } from '../market/token.ts';
import type { DenialCode } from '../trading/denials.ts';
import { DENIALS } from '../trading/denials.ts';
import type { Proposal } from '../trading/proposal.ts';
import type { CommandContext, CommandModule } from './command.ts';
import { decisionListText, latestDecisions } from './decision-list.ts';
import { EXIT } from './exit-codes.ts';
import { clockTime } from './figures.ts';
import type { FoundDecision } from './find-decision.ts';
import { findDecision } from './find-decision.ts';
import { journeyFacts } from './intent-text.ts';
import { proposalText } from './proposal-text.ts';
import { chosenRun } from './run-directories.ts';
import { facts } from './table.ts';

export const explainCommand: CommandModule = (program, run) => {
  program.command('explain [decision]')
    .description('what was decided and why: a decision by its number, its swap, or the beginning of its hash; without one, the latest with their numbers')
    .option('--run <run>', 'of this run, an id or a folder; left out, of the running daemon or the latest run')
    .action(run(async (context: CommandContext, reference: string | undefined, { run: name }: { readonly run?: string }) => {
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
    ['because', proposal.kind === 'swap' ? spoken(tokens, proposal.reason) : undefined],
    ['verdict', verdict === 'approved' ? 'approved' : `denied, ${code ?? ''}: ${meaningOf(code) ?? 'a rule of another version'}`],
    ['found', record?.reason === undefined || record.reason === null ? undefined : spoken(tokens, record.reason)],
    ['it saw', record?.saw.map(({ watches, age_ms: age, reading }) => `${watches}${age === null ? '' : `, ${roughDuration(age)} old`}${reading === null ? '' : `: ${reading}`}`)],
    ['it held', record === undefined || record.held.length === 0 ? undefined : record.held.join(', ')],
    ['trading', record === undefined ? undefined : tradingOf(record)],
    ...(intent === undefined ? [] : journeyFacts(intent, tokens).filter(([name]) => name !== 'why')),
    ['hash', h],
    ['more', why === undefined ? undefined : `what it was made of cannot be told: ${why}`],
  ]);
}

function tradingOf({ trading, strategy_trading: own, flattening }: NonNullable<FoundDecision['record']>): string {
  return [`${trading} for everything`, ...(own === 'active' ? [] : [`${own} for this strategy`]), ...(flattening ? ['this strategy was flattening'] : [])].join(', ');
}

function mannerText(proposal: Proposal): string {
  if (proposal.kind === 'alert') return '';
  const { route, key } = proposal;
  return `${route === undefined ? '' : `, by the route "${route}"`}${key === undefined ? '' : `, once for "${key}"`}`;
}

function meaningOf(code: string | null): string | undefined {
  return code !== null && Object.hasOwn(DENIALS, code) ? DENIALS[code as DenialCode].meaning : undefined;
}

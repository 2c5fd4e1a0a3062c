import { basename } from 'node:path';
import type { BoxedContext, PreparedCall } from '../../boxed/boxed-context.ts';
import { asJson, asText } from './lookahead-answer.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { openResearchInput } from '../../input/open-research-input.ts';
import { progressLine } from '../../output/progress.ts';
import { strategyViolations } from '../../../config/strategies/code-rules.ts';
import { findStrategy } from '../../../config/strategy-file.ts';
import { printable } from '../../../core/text.ts';
import { tokenTable } from '../../../market/token.ts';
import { checkWarmUps, findLeaks } from '../../../research/lookahead/find-leaks.ts';
import type { BacktestDecisions, LookaheadProgress } from '../../../research/lookahead/lookahead.ts';
import type { ThreadSetup } from '../../../research/trials/thread-setup.ts';

interface LookaheadFlags {
  readonly times: number;
  readonly seed: number;
  readonly warmUp?: boolean;
}

/** Runs the look-ahead check and prints its result. */
export async function lookaheadAction(context: BoxedContext, call: PreparedCall): Promise<ExitCode> {
  const { terminal, interrupt, host } = context;
  const flags = call.flags as LookaheadFlags;
  const { setup, recording } = await openResearchInput(context, call);
  const { events } = recording;
  const progress = progressLine(terminal, 'events');
  const onProgress = ({ done, all }: LookaheadProgress): void => {
    progress.show(Math.round(done * events), Math.round(all * events));
  };
  const backtest = (): Promise<BacktestDecisions> =>
    host.backtestDecisions(recording.truncatedAt === undefined ? undefined : setup.lastAt);
  const running = { recording, interrupt, box: host.workers };
  const result = await findLeaks(setup, flags, { ...running, onProgress, backtest }).finally(progress.end);
  const warmUps = flags.warmUp === true ? await checkWarmUps(setup, flags, running) : undefined;
  const tokens = tokenTable(setup.tokens);
  const answer = {
    result, warmUps, startAt: setup.firstAt, endAt: setup.lastAt, events, tokens,
    data: new Map(setup.strategies.map(({ name, data = [] }) => [name, data])),
    code: await codeFindings(setup),
  };
  const isClean = result.clean && [...warmUps?.values() ?? []].every(({ leak }) => leak === undefined);
  terminal.result(asJson(answer, isClean), () => asText(answer));
  return isClean ? EXIT.done : EXIT.failed;
}

/** Returns what the text of the strategies shows, each "dip.ts:12:5: it uses Date; …". */
async function codeFindings({ strategies, places }: ThreadSetup): Promise<string[]> {
  const findings = new Set<string>();
  for (const { use } of strategies) {
    const found = await findStrategy(use, places);
    if (typeof found === 'string') continue;
    for (const { file, line, column, message } of await strategyViolations(found.file))
      findings.add(`${printable(basename(file), 100)}:${line}:${column}: ${message}`);
  }
  return [...findings];
}

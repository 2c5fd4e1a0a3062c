import { basename } from 'node:path';
import type { BoxedContext, PreparedCall } from '../../boxed/boxed-context.ts';
import type { CheckedSubject } from './check.ts';
import type { StrategyCheck } from './check-answer.ts';
import { checkJson, checkText } from './check-answer.ts';
import { codeResult, schemaResult } from './static-checks.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { openResearchInput } from '../../input/open-research-input.ts';
import { findStrategy } from '../../../config/strategy-file.ts';
import { assert } from '../../../core/assert.ts';
import { pluralize, printable } from '../../../core/text.ts';
import { findLeaks } from '../../../research/lookahead/find-leaks.ts';
import type { StrategyVerdict } from '../../../research/lookahead/lookahead.ts';
import { PERTURBATIONS } from '../../../research/lookahead/perturbation.ts';
import type { CheckResult } from '../../../research/strategy-check/check-codes.ts';
import { CHECK_CODES, CHECKS } from '../../../research/strategy-check/check-codes.ts';
import { examine } from '../../../research/strategy-check/examine.ts';
import { freshInstances } from '../../../research/trials/thread-setup.ts';

/** The instants at which the future is changed: most leaks show at the first. */
const INSTANTS = 3;

/** Checks strategies and prints what was found. */
export async function checkStrategies(context: BoxedContext, call: PreparedCall): Promise<ExitCode> {
  const { terminal, interrupt, host } = context;
  const { only, parameters, isGenerated, seed } = call.flags as CheckedSubject;
  const { setup, recording, checks } = await openResearchInput(context, call);
  const strategies: StrategyCheck[] = [];
  for (const own of setup.strategies) {
    const found = await findStrategy(own.use, setup.places);
    assert(typeof found === 'object', 'the strategy was loaded with the configuration');
    const { file } = found;
    if (only !== undefined && file !== only) continue;
    const alone = { ...setup, strategies: [own] };
    const load = async () => (await freshInstances(alone))[0]!;
    const { strategy } = await load();
    // Its processes start and make their first run while this one examines the strategy.
    const leakCheck = findLeaks(alone, { times: INSTANTS, seed }, { recording, interrupt, box: host.workers })
      .then((result) => ({ result }), (error: unknown) => ({ error }));
    const results = [
      await schemaResult(file, strategy), await codeResult(file),
      ...await examine(load, { setup, recording, checks }, { interrupt }),
    ];
    const run = results.find(({ check }) => check === 'run')!;
    const leftOut = run.findings.some(({ code }) => code !== 'COMPLETES') ? 'its run failed' : undefined;
    const judged = await leakCheck;
    if (leftOut === undefined) {
      if ('error' in judged) throw judged.error;
      addVerdict(results, judged.result.strategies[0]!);
    } else results.push({ check: 'look-ahead', findings: [], leftOut, detail: leftOut });
    results.sort((a, b) => CHECKS.indexOf(a.check) - CHECKS.indexOf(b.check));
    strategies.push({ name: own.name, file: basename(file), results });
  }
  const answer = {
    strategies, parameters, isGenerated, events: recording.events, startAt: setup.firstAt, endAt: setup.lastAt,
  };
  terminal.result(checkJson(answer), () => checkText(answer));
  const hasFailed = strategies.some(({ results }) =>
    results.some(({ findings }) => findings.some(({ code }) => CHECK_CODES[code].level === 'failure')));
  return hasFailed ? EXIT.failed : EXIT.done;
}

/** Adds what runs over other futures and on other machines have shown. */
function addVerdict(results: CheckResult[], verdict: StrategyVerdict): void {
  const { firstLeak, decisions, instants, passes } = verdict;
  if (decisions === 0 && firstLeak === undefined) {
    const leftOut = 'it decided nothing over the recording';
    results.push({ check: 'look-ahead', findings: [], leftOut, detail: leftOut });
    return;
  }
  const isFuture = firstLeak !== undefined && PERTURBATIONS.some((kind) => kind === firstLeak.cause);
  const finding = firstLeak === undefined ? [] : [{
    code: isFuture ? 'NEEDS_FUTURE' as const : 'NOT_REPEATABLE' as const, message: printable(firstLeak.detail, 500),
  }];
  const determinism = results.findIndex(({ check }) => check === 'determinism');
  const known = results[determinism]!;
  if (!isFuture && known.findings.length === 0)
    results[determinism] = { ...known, findings: finding, detail: `${known.detail} and on other machines` };
  const findings = isFuture ? finding : [];
  results.push({ check: 'look-ahead', findings, detail:
    `${pluralize(decisions, 'decision')} with other futures from ${pluralize(instants, 'instant')} on, in `
      + pluralize(passes, 'run') });
}

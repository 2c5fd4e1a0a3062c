import { parseJson } from '../core/json.ts';
import { printable } from '../core/text.ts';
import { readDecisions } from '../daemon/run-files.ts';
import type { LoggedDecision } from '../engine/decision-log.ts';
import { tokenTable } from '../market/token.ts';
import { clockTime } from './figures.ts';
import { proposalText } from './proposal-text.ts';
import type { RunDirectory } from './run-directories.ts';
import { table } from './table.ts';

const LATEST_MAX = 20;
const PROPOSED_CHARACTERS_MAX = 80;

/** Returns the latest decisions of a run, newest first. Throws RUN_NOT_FOUND and RECORDING_CORRUPT. */
export function latestDecisions({ dir }: RunDirectory): LoggedDecision[] {
  return readDecisions(dir).slice(-LATEST_MAX).reverse().map(({ line }) => parseJson(line) as unknown as LoggedDecision);
}

/** Returns decisions for people, one a line, with the number that "gannet explain" takes. */
export function decisionListText({ manifest }: RunDirectory, decisions: readonly LoggedDecision[]): string {
  if (decisions.length === 0) return `  run ${manifest.run_id} has decided nothing\n`;
  const tokens = tokenTable(manifest.config.tokens);
  return table([
    ['number', 'decided, UTC', 'strategy', 'proposed', 'verdict'],
    ...decisions.map(({ seq, at, strategy, proposal, code }) => [
      String(seq), clockTime(at), strategy, printable(proposalText(tokens, proposal), PROPOSED_CHARACTERS_MAX), code === null ? 'approved' : `denied, ${code}`,
    ]),
  ], { right: [0] });
}

import type { ResultLine } from '../campaign/results.ts';

interface Kill {
  readonly at: string;
  readonly reached: boolean;
}

/**
 * Returns the part of docs/campaigns.md about crashes: what was done on the code of a digest, by course, with the
 * points of each.
 */
export function crashSection(results: readonly ResultLine[], digest: string): string[] {
  const own = results.filter((line) => line['digest'] === digest);
  const of = (type: string): ResultLine[] => own.filter((line) => line.type === type);
  const [points, lives, random, sessions] = [of('points'), of('life'), of('random'), of('session')];
  const numbered = points.reduce((sum, line) => sum + pointsOf(line).length, 0);
  const killed = new Set(lives.flatMap((life) => killsOf(life).map(({ at }) => `${String(life['course'])} ${at}`)));
  return [
    '## Crashes', '',
    'The daemon trades live, with its signer process, on a sandbox that outlives it. Whatever it does at its edge',
    '(statements and commits of the journal, files, processes, what is sent to and received from service, node',
    'and signer) is a numbered point, and it is killed with SIGKILL before and after each. Production code knows',
    'nothing of it: the points are put around `node:sqlite`, `node:fs`, `node:net` and `node:child_process` by a',
    'module that is loaded before it, and so is time that runs ten to sixteen times as fast. A point is named by',
    'what it is and which time it is that; polls that repeat themselves between two journalled steps count twice',
    'at most.', '',
    'What differs from scenario to scenario is what happens between the intent’s first row in the journal and the',
    'snapshot with its outcome: those points are killed at in every scenario, and nothing is recorded there. What',
    'comes before and after (opening the journal, balances, first quotes; the drain, the recording’s end) knows',
    'nothing of the scenario, and neither does what goes by a timer of its own (the feeds’ polls, the memory of',
    'the service’s rate): it is killed at in the courses “start to end”, one for each route, which record and',
    'number everything from the opening of the journal on. The courses “in recovery” number the start after a',
    'crash between signing and sending, those “in the signer” the process with the key.', '',
    'A wallet lives through up to three crashes: each start recovers from the one before, swaps again and is',
    'killed there; the start after the third is in safe mode. Then the daemon is started until nothing is under',
    'way, ended in order, and the chain itself is asked: no intent swapped more than once; each terminal, and as',
    'the chain has it; ledger equal to the chain to the unit, without ever having been set right; no signature on',
    'the chain that the journal does not have; signed bytes in the journal, as another connection sees it,',
    'whenever they leave; no process left over; the journal whole. A life with something wrong in it is played',
    'again, each crash alone. Random kills hit the trading process, the signer or both at any time of runs that',
    'trade without a pause while answers are lost. Some of them hit the process of strategies first: the daemon',
    'starts it again, and is killed later. No process of strategies may outlive its daemon either.', '',
    'Trading starts beside a swap of the killed run that is not proven within 5 seconds, and nothing spends its',
    'input until it is proven. The strategy of a life therefore proposes its swap until it is allowed.', '',
    'Repeat, or go on: `npm run campaign:crash -- --points all --kills 500 --seed 1 --lanes 2`, then `npm run',
    'campaign:report`. What was done stands in `test/campaign/results/crash.ndjson.gz`; results count for the',
    'code of their digest alone; `--kills` can be any number, and another `--seed` gives other random kills.',
    '`--out FILE` starts from nothing.', '',
    `On the code ${digest}: ${numbered} points in ${points.length} courses; `
      + `${killed.size} of ${2 * numbered} kills at points in ${lives.length} lives, `
      + `${random.reduce((sum, line) => sum + killsOf(line).length, 0)} random kills (seeds ${seedsOf(random)}; `
      + `${tested(random)} intents and ${hostsIn(random)} killed processes of strategies in them); `
      + `${own.filter(isBad).length} lines with violations.`, '',
    ...sessionTable(sessions),
    ...courseTable(points, lives),
    ...points.flatMap((line) => pointList(line, lives)),
    ...own.filter(isBad).flatMap((line) =>
      [`- ${line.type} of ${String(line['course'] ?? line['number'])}: `
        + (line['violations'] as readonly string[]).join('; ').slice(0, 500)]),
    '',
  ];
}

const SESSION_MEMBERS = ['commit', 'node', 'seed', 'lanes', 'kills', 'minutes', 'cores', 'gibibytes', 'load'];

function seedsOf(lines: readonly ResultLine[]): string {
  return [...new Set(lines.map((line) => String(line['seed'])))].join(', ') || 'none';
}

function killsOf(line: ResultLine): readonly Kill[] {
  return line['kills'] as readonly Kill[];
}

function pointsOf(line: ResultLine): readonly string[] {
  return line['points'] as readonly string[];
}

function isBad(line: ResultLine): boolean {
  return (line['violations'] as readonly unknown[]).length > 0;
}

/** Returns how many intents there were in the lines of random kills. */
function tested(lines: readonly ResultLine[]): number {
  return lines.reduce((sum, line) => sum + Object.values(line['states'] as Readonly<Record<string, number>>).reduce(
    (all, count) => all + count, 0,
  ), 0);
}

/** Returns how many processes of strategies were killed besides the victims. */
function hostsIn(random: readonly ResultLine[]): number {
  return random.flatMap((line) => line['kills'] as readonly { readonly hosts?: number }[])
    .reduce((sum, { hosts = 0 }) => sum + hosts, 0);
}

function sessionTable(sessions: readonly ResultLine[]): string[] {
  if (sessions.length === 0) return [];
  return [
    '| session | commit | Node | seed | lanes | kills | minutes | cores | GiB | load |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...sessions.map((line, index) =>
      `| ${[index + 1, ...SESSION_MEMBERS.map((name) => String(line[name]))].join(' | ')} |`),
    '',
  ];
}

function courseTable(points: readonly ResultLine[], lives: readonly ResultLine[]): string[] {
  if (points.length === 0) return [];
  const rows = points.map((line) => {
    const own = lives.filter((life) => life['course'] === line['course']);
    const kills = own.flatMap(killsOf);
    const numbers = pointsOf(line).length;
    const missed = kills.filter(({ reached }) => !reached).length;
    const states = countBy(own.flatMap((life) => life['states'] as readonly string[]));
    return `| ${String(line['course'])} | ${numbers} | ${kills.length} of ${2 * numbers} | ${missed} | ${states} `
      + `| ${own.filter(isBad).length} |`;
  });
  return [
    '| course | points | kills | not reached | how its intents ended | violations |', '|---|---|---|---|---|---|',
    ...rows, '',
  ];
}

function countBy(states: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
}

/** The points of a course, so that a reader sees what they are, and which of them the daemon did not come to again. */
function pointList(line: ResultLine, lives: readonly ResultLine[]): string[] {
  const missed = lives.filter((life) => life['course'] === line['course']).flatMap(killsOf)
    .filter(({ reached }) => !reached).map(({ at }) => at);
  return [
    `<details><summary>${String(line['course'])}: its points</summary>`, '',
    pointsOf(line).map((point, index) => `${index + 1} ${point.replaceAll('|', '/')}`).join(' · '), '',
    ...(missed.length === 0 ? []
      : ['Not reached in three runs, because requests were answered in another order or between other polls '
        + `than when the points were numbered: ${missed.join(' · ')}`, '']),
    '</details>', '',
  ];
}

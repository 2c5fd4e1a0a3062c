import type { Case } from './case.ts';
import { liveRunOf } from './live-run.ts';
import type { Row } from './row.ts';

const HEAD = `# The service's description, line by line

Each line below is one statement of the service's description, with its place in the client, its place in the embedded
service, and the cases that check it over HTTP in every dialect. Cases and rows are in \`test/contract/service\`.
\`node test/contract/service/write-coverage.ts\` writes this page from them, and a test fails when it is not current.

The column "live run" says with which key of the configuration the swaps of a live run use a statement, or that each of
them does. \`test/daemon/run/swap-options.test.ts\` lands a swap with each key. A dash: they do not touch it.
`;

/** Returns the page that lists every row with its client, its sandbox and its cases. */
export function coveragePage(rows: readonly Row[], cases: readonly Case[]): string {
  const sections = [...new Set(rows.map(({ section }) => section))];
  const numbers = new Map(cases.map((each, place) => [each, place + 1]));
  const tables = sections.map((title) => {
    const lines = rows.filter(({ section }) => section === title).map((row) => line(row, cases, numbers));
    return `## ${title}\n\n| | what | says | client | sandbox | live run | cases |\n|---|---|---|---|---|---|---|\n`
      + `${lines.join('\n')}\n`;
  });
  const list = cases.map((each) =>
    `${numbers.get(each)}. ${escaped(each.says)}${each.profile === 'live' ? ' (as the live service)' : ''}`);
  return `${HEAD}\n${summary(rows, cases)}\n\n${tables.join('\n')}\n## Cases\n\n${list.join('\n')}\n`;
}

/** Returns the cases of a row. */
export function casesOf(row: Row, cases: readonly Case[]): readonly Case[] {
  return cases.filter(({ covers }) => covers.includes(row.id));
}

function summary(rows: readonly Row[], cases: readonly Case[]): string {
  return `${rows.length} statements, ${cases.length} cases.`;
}

function line(row: Row, cases: readonly Case[], numbers: ReadonlyMap<Case, number>): string {
  const played = casesOf(row, cases).map((each) => numbers.get(each)).join(', ');
  return `| ${row.kind} | \`${row.name}\` | ${escaped(row.says)} | ${place(row.client)} | ${place(row.sandbox)} | `
    + `${escaped(liveRunOf(row))} | ${played} |`;
}

/** Code is set as code, a reason as a sentence. */
function place(cell: string): string {
  return cell.startsWith('not applicable') ? escaped(cell) : cell.split('; ').map((each) => `\`${each}\``).join('<br>');
}

function escaped(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}

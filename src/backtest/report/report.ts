import { createHash } from 'node:crypto';
import { equityCharts, marketCharts, tradeResultChart } from './curves.ts';
import type { EmbeddedReport } from './embedded.ts';
import { figuresOf, packRecord } from './embedded.ts';
import { inlineModules } from './inline-modules.ts';
import type { Markup } from './markup.ts';
import { jsonInPage, markup, trusted } from './markup.ts';
import type { ReportInput } from './report-input.ts';
import { REPORT_STYLE } from './style.ts';
import { comparisonTable, costTable, denialTable, figureList, fillTable, monthlyTable, namedTable, sensitivityTable } from './tables.ts';

/** With drawings and tables around it, this keeps a file under 2 MB. */
const MOST_EMBEDDED = 1_700_000;

/**
 * Returns a backtest's report as one HTML page that needs nothing else: it loads nothing, and its only script computes the
 * figures again from the data in the page, by the same source as the tool.
 */
export function renderReport(input: ReportInput): string {
  const script = inlineModules(new URL('./page-script.ts', import.meta.url), 'entry.recheck(document);');
  const hash = createHash('sha256').update(script).digest('base64');
  const data = embeddedData(input);
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${trusted(hash)}'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<title>Backtest of ${input.subject}</title>
<style>${trusted(REPORT_STYLE)}</style>
</head>
<body>
<header><h1>Backtest of ${input.subject}</h1><p class="soft">${input.runId} · ${instant(input.run.result.startAt)} to ${instant(input.run.result.endAt)} UTC</p></header>
<main>
${warningList(input.warnings)}
<section class="verdict"><h2>What it says</h2>${input.verdict.map((sentence) => markup`<p>${sentence}</p>`)}<p id="check" class="check">${data === undefined
    ? 'The data of this run are too many to be carried in this file: its figures cannot be computed again here.'
    : 'The figures were not computed again in this page: scripts do not run here.'}</p></section>
${figureList(input)}
${equityCharts(input)}
${marketCharts(input)}
${tradeResultChart(input)}
${monthlyTable(input)}
${costTable(input)}
${denialTable(input)}
${sensitivityTable(input)}
${comparisonTable(input)}
${fillTable(input)}
${namedTable('Parameters', input.parameters)}
${namedTable('Hashes', input.hashes)}
</main>
${data !== undefined && markup`<script type="application/json" id="data">${data}</script>
<script>${trusted(script)}</script>`}
</body>
</html>
`.markup;
}

function warningList(warnings: readonly string[]): Markup {
  if (warnings.length === 0) return markup`<section class="warnings"><h2>Warnings</h2><p>None.</p></section>`;
  return markup`<section class="warnings"><h2>Warnings</h2><ul>${warnings.map((warning) => markup`<li>${warning}</li>`)}</ul></section>`;
}

function embeddedData({ run: { record } }: ReportInput): Markup | undefined {
  const report: EmbeddedReport = { record: packRecord(record), figures: figuresOf(record) };
  const data = jsonInPage(report);
  return data.markup.length > MOST_EMBEDDED ? undefined : data;
}

function instant(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ');
}

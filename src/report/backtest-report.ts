import { markup, namedTable, note } from '../web/markup.ts';
import { embeddedData } from './embedded-data.ts';
import { comparisonTables, figureTable, keyFigures, sensitivityTables } from './figure-tables.ts';
import { headlineOf } from './headline.ts';
import { marketCharts } from './market-charts.ts';
import { costTable, denialTables, swapTable } from './outcome-tables.ts';
import type { PageSection } from './page.ts';
import { renderPage, splitWarnings } from './page.ts';
import { instantText } from './printed-figures.ts';
import type { ReportFigures, ReportInput } from './report-input.ts';
import { reportFigures } from './report-input.ts';
import { returnMaps } from './return-maps.ts';
import { equityCharts, exposureChart } from './run-charts.ts';
import { statisticTables } from './statistic-tables.ts';
import { tradeTables } from './trade-tables.ts';

/**
 * Returns the report of a backtest as one self-contained HTML page. Its script computes the figures again from the data
 * in the page, with the same source as the tool, and compares them with the printed ones.
 */
export function renderBacktest(input: ReportInput): string {
  const { run: { result, record, assessment }, runId, subject, warnings } = input;
  const figures = reportFigures(input);
  const data = embeddedData({ record, others: figures.others, trials: input.trials }, figures);
  const names = record.strategies.map(({ name }) => name);
  const about = [
    ...(names.length === 1 ? [] : [`${names.length} strategies`]),
    ...(figures.configured === undefined ? [] : [`${figures.configured} setting`]), runId,
  ];
  const { startAt, endAt } = result;
  const span = `${instantText(startAt, Infinity)} to ${instantText(endAt, Infinity)} UTC`;
  return renderPage({
    title: `Backtest of ${subject}`,
    lead: markup`<p class="soft">${[span, ...about].join(' · ')}</p>`,
    sentence: headlineOf(input, figures),
    ...splitWarnings(warnings, assessment.warnings),
    keyFigures: keyFigures(input, figures),
    sections: sectionsOf(input, figures, data !== undefined),
    data: data === undefined ? undefined : markup`<script type="text/plain" id="data">${data}</script>`,
  });
}

function sectionsOf(input: ReportInput, figures: ReportFigures, hasData: boolean): PageSection[] {
  const check = markup`<p id="check" class="check" role="status">${
    hasData ? 'The figures were not computed again in this page: scripts do not run here.'
      : 'The data of this run are too large for this file: its figures cannot be checked here.'}</p>`;
  return [
    { id: 'equity', title: 'Equity', body: equityCharts(input) },
    {
      id: 'summary', title: 'Summary',
      body: markup`<div class="verdict">${input.verdict.map((sentence) => markup`<p>${sentence}</p>`)}</div>${check}`,
    },
    { id: 'prices', title: 'Prices', body: marketCharts(input) },
    { id: 'trades', title: 'Trades', body: tradeTables(input, figures) },
    { id: 'returns', title: 'Returns', body: returnMaps(input, figures) },
    {
      id: 'statistics', title: 'Statistics',
      body: markup`${statisticTables(input, figures)}<h3>Exposure</h3>${exposureChart(input)}`,
    },
    { id: 'costs', title: 'Costs', body: costTable(input) },
    { id: 'denials', title: 'Denials', body: denialTables(input) },
    { id: 'sensitivity', title: 'Sensitivity', body: sensitivityTables(input, figures) },
    { id: 'comparison', title: 'Comparison', body: comparisonTables(input, figures) },
    { id: 'all-figures', title: 'All figures', body: figureTable(input, figures) },
    { id: 'swaps', title: 'Swaps', body: swapTable(input) },
    { id: 'parameters', title: 'Parameters', body: namedTable('Parameters of the run', input.parameters) },
    {
      id: 'hashes', title: 'Provenance',
      body: markup`${namedTable('Hashes', input.hashes)}${
        note('The same code, recording and configuration lead to the same hashes.')}`,
    },
  ];
}

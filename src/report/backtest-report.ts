import { assetFile } from '../core/code-files.ts';
import { shortDuration } from '../core/time.ts';
import { markup, namedTable } from '../web/markup.ts';
import type { PageSection } from './page.ts';
import { renderPage, splitWarnings } from './page.ts';
import { instantText } from './charts/axis.ts';
import { comparisonTables, figureTable, keyFigures, sensitivityTables } from './figure-tables.ts';
import { marketCharts } from './market-charts.ts';
import { costTable, denialTables, monthlyTable, swapTable } from './outcome-tables.ts';
import type { ReportFigures, ReportInput } from './report-input.ts';
import { reportFigures } from './report-input.ts';
import { equityCharts, exposureChart, tradeResultChart } from './run-charts.ts';
import { embeddedData } from './embedded-data.ts';

/**
 * Returns the report of a backtest as one self-contained HTML page. Its script computes the figures again from the data
 * in the page, with the same source as the tool, and compares them with the printed ones.
 */
export function renderBacktest(input: ReportInput): string {
  const { run: { result, record, assessment }, runId, subject, verdict, warnings } = input;
  const figures = reportFigures(input);
  const data = embeddedData({ record, others: figures.others, trials: input.trials }, figures.assessments);
  const names = record.strategies.map(({ name }) => name);
  const about = [
    names.length === 1 ? 'one strategy' : `${names.length} strategies`,
    ...(figures.configured === undefined ? [] : [`${figures.configured} setting`]),
  ];
  const { startAt, endAt } = result;
  const span = `${instantText(startAt)} to ${instantText(endAt)} UTC (${shortDuration(endAt - startAt)})`;
  return renderPage({
    title: `Backtest of ${subject}`,
    lead: markup`<p class="soft">${[runId, span, ...about].join(' · ')}</p>`,
    ...splitWarnings(warnings, assessment.warnings),
    verdict: markup`${verdict.map((sentence) => markup`<p>${sentence}</p>`)}<p id="check" class="check" role="status">${
      data === undefined ? 'The data of this run are too large for this file: its figures cannot be checked here.'
        : 'The figures were not computed again in this page: scripts do not run here.'}</p>`,
    sections: sectionsOf(input, figures),
    ...(data === undefined ? {} : {
      data: markup`<script type="text/plain" id="data">${data}</script>`,
      script: { entry: assetFile('report-page'), run: 'entry.startReport(document);' },
    }),
  });
}

function sectionsOf(input: ReportInput, figures: ReportFigures): PageSection[] {
  return [
    { id: 'figures', title: 'Key figures', body: keyFigures(input, figures) },
    { id: 'equity', title: 'Equity and drawdown', body: equityCharts(input) },
    { id: 'prices', title: 'Prices with entries and exits', body: marketCharts(input) },
    { id: 'exposure', title: 'Exposure', body: exposureChart(input) },
    { id: 'trades', title: 'Results of trades', body: tradeResultChart(input, figures) },
    { id: 'months', title: 'Months', body: monthlyTable(input, figures) },
    { id: 'costs', title: 'Costs', body: costTable(input) },
    { id: 'denials', title: 'Denials', body: denialTables(input) },
    { id: 'sensitivity', title: 'Sensitivity', body: sensitivityTables(input, figures) },
    { id: 'comparison', title: 'Strategies and benchmarks', body: comparisonTables(input, figures) },
    { id: 'all-figures', title: 'All figures', body: figureTable(input, figures) },
    { id: 'swaps', title: 'Swaps', body: swapTable(input) },
    { id: 'parameters', title: 'Parameters', body: namedTable('Parameters', input.parameters) },
    { id: 'hashes', title: 'Hashes', body: namedTable('Hashes', input.hashes) },
  ];
}

import { shortDuration } from '../../core/time.ts';
import { markup } from '../page/markup.ts';
import type { PageSection } from '../page/page.ts';
import { renderPage } from '../page/page.ts';
import { instantText } from '../page/time-axis.ts';
import { comparisonTables, sensitivityTables } from './comparison-tables.ts';
import { embeddedData } from './embedded-data.ts';
import { figureTable, keyFigures } from './figure-tables.ts';
import { marketCharts } from './market-charts.ts';
import { costTable, denialTables, monthlyTable } from './outcome-tables.ts';
import type { ReportFigures } from './report-figures.ts';
import { reportFigures } from './report-figures.ts';
import type { ReportInput } from './report-input.ts';
import { equityCharts, exposureChart, tradeResultChart } from './run-charts.ts';
import { splitWarnings } from './split-warnings.ts';
import { namedTable, swapTable } from './swap-table.ts';

/**
 * Returns a backtest's report as one HTML page that needs nothing else: its script computes the figures again from the
 * data in the page, by the same source as the tool, and holds them against what is printed.
 */
export function renderReport(input: ReportInput): string {
  const { run: { result, record, assessment }, runId, subject, verdict, warnings } = input;
  const figures = reportFigures(input);
  const data = embeddedData({ record, others: figures.others, trials: input.trials }, figures.assessments);
  const names = record.strategies.map(({ name }) => name);
  return renderPage({
    title: `Backtest of ${subject}`,
    lead: markup`<p class="soft">${runId} · ${instantText(result.startAt)} to ${instantText(result.endAt)} UTC (${shortDuration(result.endAt - result.startAt)}) · ${names.length === 1 ? 'one strategy' : `${names.length} strategies`}${figures.configured !== undefined && markup` · ${figures.configured} setting`}</p>`,
    ...splitWarnings(warnings, assessment.warnings),
    verdict: markup`${verdict.map((sentence) => markup`<p>${sentence}</p>`)}<p id="check" class="check" role="status">${data === undefined
      ? 'The data of this run are too many to be carried in this file: its figures cannot be computed again here.'
      : 'The figures were not computed again in this page: scripts do not run here.'}</p>`,
    sections: sectionsOf(input, figures),
    ...(data === undefined ? {} : {
      data: markup`<script type="text/plain" id="data">${data}</script>`,
      script: { entry: new URL('./page-script.ts', import.meta.url), run: 'entry.startReport(document);' },
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

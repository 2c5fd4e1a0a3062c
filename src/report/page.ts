import { createHash } from 'node:crypto';
import { assetFile } from '../core/code-files.ts';
import type { Markup } from '../web/markup.ts';
import { markup, trusted } from '../web/markup.ts';
import { PAGE_STYLE } from './style.ts';
import type { MetricWarning, WarningCode } from '../research/metrics/metric-warnings.ts';
import { inlineModules } from '../web/inline-modules.ts';

/** A part of a page with its own heading. */
export interface PageSection {
  /** For links within the page: letters and hyphens. */
  readonly id: string;
  readonly title: string;
  readonly body: Markup;
}

/** The content of a page. */
interface Page {
  /** The title of the window, and the heading. */
  readonly title: string;
  /** A line below the heading. */
  readonly lead: Markup;
  /** The first content of the page; untrusted text. */
  readonly warnings: readonly string[];
  /** Warnings that only say why something is missing: below the others, and collapsed. */
  readonly missing?: readonly string[] | undefined;
  /** The result in plain sentences. */
  readonly verdict: Markup;
  readonly sections: readonly PageSection[];
  /** Further content at the end, such as data for the script. */
  readonly data?: Markup | undefined;
  /** By default the script of the read-outs. `run` finds the exports of `entry` in `entry`. */
  readonly script?: { readonly entry: string; readonly run: string } | undefined;
}

const WARNINGS_OPEN = 8;
const READOUTS = { entry: assetFile('report-readout'), run: 'entry.startReadouts(document);' };

/**
 * Returns a self-contained HTML page: it loads nothing and sends nothing, and runs only its own script, which consists
 * of the project's source.
 */
export function renderPage(
  { title, lead, warnings, missing = [], verdict, sections, data, script: { entry, run } = READOUTS }: Page,
): string {
  const script = inlineModules(entry, run);
  const hash = createHash('sha256').update(script).digest('base64');
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; ${
  trusted(`script-src 'sha256-${hash}'`)}; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${trusted(PAGE_STYLE)}</style>
</head>
<body>
<header><div><h1>${title}</h1>${lead}</div>${THEME_CHOICE}</header>
<main>
<section class="warnings" aria-labelledby="warnings"><h2 id="warnings">Warnings</h2>${
  warningList(warnings, missing)}</section>
<section class="verdict" aria-labelledby="verdict"><h2 id="verdict">Summary</h2>${verdict}</section>
<nav aria-label="On this page"><ul>${
  sections.map((section) => markup`<li><a href="#${section.id}">${section.title}</a></li>`)}</ul></nav>
${sections.map((section) => markup`<section aria-labelledby="${section.id}"><h2 id="${section.id}">${section.title}</h2>
${section.body}</section>
`)}</main>
${data}
<script>${trusted(script)}</script>
</body>
</html>
`.markup;
}

/** Shows the first warnings, and collapses further ones so that they do not hide the result. */
function warningList(warnings: readonly string[], missing: readonly string[]): Markup {
  const open = warnings.length <= WARNINGS_OPEN + 2 ? warnings : warnings.slice(0, WARNINGS_OPEN);
  return markup`${open.length === 0 ? markup`<p>None.</p>` : items(open)}${
    closed(`and ${warnings.length - open.length} more`, warnings.slice(open.length))}${
    closed(`Why figures are missing (${missing.length})`, missing)}`;
}

function items(texts: readonly string[]): Markup {
  return markup`<ul>${texts.map((text) => markup`<li>${text}</li>`)}</ul>`;
}

function closed(summary: string, texts: readonly string[]): Markup | false {
  return texts.length > 0 && markup`<details><summary>${summary}</summary>${items(texts)}</details>`;
}

/** It works without a script: the style sheet checks the selected option. */
const THEME_CHOICE = markup`<fieldset class="theme"><legend>Colours</legend>${[
  { value: 'auto', label: 'as the device', checked: markup` checked` }, { value: 'light', label: 'light' },
  { value: 'dark', label: 'dark' },
].map(({ value, label, checked }) => markup`<label><input type="radio" name="theme" value="${value}"${checked}>${
  label}</label>`)}</fieldset>`;

/** Warnings that only say why a figure is missing. */
const ONLY_MISSING: ReadonlySet<WarningCode> = new Set<WarningCode>([
  'breakeven_left_out', 'drawdown_open', 'interval_left_out', 'no_drawdown', 'no_loss', 'no_trades', 'no_variance',
  'no_win', 'not_above_benchmark', 'not_deflated', 'nothing_below_mar', 'nothing_quoted', 'nothing_sent', 'short_span',
]);

/** Returns warnings apart from those that only say why a figure is missing, by the codes of `metricWarnings`. */
export function splitWarnings(
  warnings: readonly string[], metricWarnings: readonly MetricWarning[],
): { readonly warnings: readonly string[]; readonly missing: readonly string[] } {
  const only = new Set(metricWarnings.filter(({ code }) => ONLY_MISSING.has(code)).map(({ message }) => message));
  return {
    warnings: warnings.filter((warning) => !only.has(warning)),
    missing: warnings.filter((warning) => only.has(warning)),
  };
}

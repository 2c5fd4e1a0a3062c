import { createHash } from 'node:crypto';
import { assetFile } from '../core/code-files.ts';
import { pluralize } from '../core/text.ts';
import type { MetricWarning, WarningCode } from '../research/metrics/metric-warnings.ts';
import { chartLibrary } from '../web/chart-library.ts';
import { inlineModules } from '../web/inline-modules.ts';
import type { Markup } from '../web/markup.ts';
import { markup, trusted } from '../web/markup.ts';
import { PAGE_STYLE } from './style.ts';

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
  /** The result in one sentence. */
  readonly sentence: Markup;
  /** Behind a badge beside the sentence; untrusted text. */
  readonly warnings: readonly string[];
  /** Warnings that only say why something is missing: below the others. */
  readonly missing?: readonly string[] | undefined;
  readonly keyFigures?: Markup | undefined;
  /** The first one follows the key figures, and is seen on the first screen. */
  readonly sections: readonly PageSection[];
  /** Further content at the end, such as data for the script. */
  readonly data?: Markup | undefined;
}

/**
 * Returns a self-contained HTML page: it loads nothing and sends nothing, and runs only its own scripts: the library of
 * the charts, and the project's source.
 */
export function renderPage(
  { title, lead, sentence, warnings, missing = [], keyFigures, sections, data }: Page,
): string {
  const scripts = [chartLibrary(), inlineModules(assetFile('report-page'), 'entry.startReport();')];
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${hashOf(PAGE_STYLE)}; script-src ${
  scripts.map((script, i) => trusted(`${i > 0 ? ' ' : ''}${hashOf(script).markup}`))
}; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${trusted(PAGE_STYLE)}</style>
</head>
<body>
<nav aria-label="On this page"><ul>${
  sections.map((section) => markup`<li><a href="#${section.id}">${section.title}</a></li>`)}</ul></nav>
<main>
<header><h1>${title}</h1>${lead}</header>
<section class="result" aria-label="Result"><p class="sentence">${sentence}</p>${
  warningBadge(warnings, missing)}${keyFigures}</section>
${sections.map((section) => markup`<section aria-labelledby="${section.id}"><h2 id="${section.id}">${section.title}</h2>
${section.body}</section>
`)}</main>
<footer>${THEME_CHOICE}</footer>
${data}
${scripts.map((script) => markup`<script>${trusted(script)}</script>
`)}</body>
</html>
`.markup;
}

function hashOf(text: string): Markup {
  return trusted(`'sha256-${createHash('sha256').update(text).digest('base64')}'`);
}

/** The badge says how many warnings there are, and opens their list. */
function warningBadge(warnings: readonly string[], missing: readonly string[]): Markup {
  const count = warnings.length === 0 ? 'no warnings' : pluralize(warnings.length, 'warning');
  if (warnings.length + missing.length === 0) return markup`<p class="badge calm">${count}</p>`;
  return markup`<details class="badge${warnings.length === 0 && ' calm'}"><summary>${count}</summary>${
    warnings.length > 0 && items(warnings)}${
    missing.length > 0 && markup`<p>Why figures are missing:</p>${items(missing)}`}</details>`;
}

function items(texts: readonly string[]): Markup {
  return markup`<ul>${texts.map((text) => markup`<li>${text}</li>`)}</ul>`;
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

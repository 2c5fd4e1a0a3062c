import { createHash } from 'node:crypto';
import type { Markup } from './markup.ts';
import { markup, trusted } from './markup.ts';
import { PAGE_STYLE } from './style.ts';
import type { MetricWarning, WarningCode } from '../research/metrics/metric-warnings.ts';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { assert } from '../core/assert.ts';

/** They say why a figure is not there, and nothing against those that are. */
const ONLY_MISSING: ReadonlySet<WarningCode> = new Set<WarningCode>([
  'breakeven_left_out', 'drawdown_open', 'interval_left_out', 'no_drawdown', 'no_loss', 'no_trades', 'no_variance',
  'no_win', 'not_above_benchmark', 'not_deflated', 'nothing_below_mar', 'nothing_quoted', 'nothing_sent', 'short_span',
]);

/** Returns warnings apart from those that only say why a figure is missing, which `doubts` are told by. */
export function splitWarnings(
  warnings: readonly string[], doubts: readonly MetricWarning[],
): { readonly warnings: readonly string[]; readonly missing: readonly string[] } {
  const only = new Set(doubts.filter(({ code }) => ONLY_MISSING.has(code)).map(({ message }) => message));
  return { warnings: warnings.filter((warning) => !only.has(warning)), missing: warnings.filter((warning) =>
    only.has(warning)) };
}

const IMPORT = /^import\s*\{([^}]*)\}\s*from\s*'(\.[^']+)';?$/gm;
const EXPORT = /^export\s+(?=(?:async\s+)?function\s+(\w+)|const\s+(\w+)|class\s+(\w+))/gm;
const LEFT_OVER = /^\s*(?:import|export)\b.*$/m;

/**
 * Returns one script that holds a module and all that it imports, each module in a function of its own so that equal
 * names stay apart, and hands the exports of the first to `run`, a piece of script with `entry` for them. Types are
 * taken out; what runs is what runs here. It reads imports of names from relative files and exports of declarations,
 * and refuses anything else.
 */
export function inlineModules(entry: URL, run: string): string {
  const order: URL[] = [];
  const parts: string[] = [];
  const add = (file: URL): number => {
    const known = order.findIndex(({ href }) => href === file.href);
    if (known >= 0) return known;
    const source = readFileSync(file, 'utf8');
    const code = file.pathname.endsWith('.ts') ? stripTypeScriptTypes(source) : source;
    const exported: string[] = [];
    const body = code
      .replace(IMPORT, (_, names: string, specifier: string) => {
        const from = add(new URL(specifier, file));
        const taken = names.split(',').map((name) => name.trim()).filter((name) => name !== '')
          .map((name) => name.replace(/\s+as\s+/, ': '));
        return taken.length === 0 ? '' : `const { ${taken.join(', ')} } = m${from};`;
      })
      .replace(EXPORT, (_, ...names: (string | undefined)[]) => {
        exported.push(names.slice(0, 3).find((name) => name !== undefined)!);
        return '';
      });
    const strange = LEFT_OVER.exec(body);
    assert(strange === null, () => `${file.pathname} cannot go into a page: ${strange![0].trim()}`);
    order.push(file);
    parts.push(`const m${order.length - 1} = (() => {\n${tidy(body)}\nreturn { ${exported.join(', ')} };\n})();`);
    return order.length - 1;
  };
  const first = add(entry);
  const script = `'use strict';\n${parts.join('\n')}\n{\nconst entry = m${first};\n${run}\n}\n`;
  assert(!/<\/script|<!--/i.test(script), 'a script in a page may not hold what ends one');
  return script;
}

/** Comments of whole lines and blanks are a third of it, and nobody reads them there. */
function tidy(code: string): string {
  return code.replace(/^\s*\/\*\*[\s\S]*?\*\/\s*$/gm, '').replace(/^\s*\/\/.*$/gm, '').replace(/[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n').trim();
}

/** A part of a page with a heading of its own. */
export interface PageSection {
  /** For links within the page: letters and hyphens. */
  readonly id: string;
  readonly title: string;
  readonly body: Markup;
}

/** What a page is made of. */
export interface Page {
  /** For the window, and the heading. */
  readonly title: string;
  /** A line below the heading. */
  readonly lead: Markup;
  /** Before anything else; text from anywhere. */
  readonly warnings: readonly string[];
  /** Warnings that only say why something is not there: below the others, and closed. */
  readonly missing?: readonly string[] | undefined;
  /** What it comes to, in plain sentences. */
  readonly verdict: Markup;
  readonly sections: readonly PageSection[];
  /** What else it carries at its end, such as data for its script. */
  readonly data?: Markup | undefined;
  /** By default the script that lets drawings be read. `run` is given the exports of `entry` as `entry`. */
  readonly script?: { readonly entry: URL; readonly run: string } | undefined;
}

const WARNINGS_OPEN = 8;
const READOUTS = { entry: new URL('./readout.ts', import.meta.url), run: 'entry.startReadouts(document);' };

/**
 * Returns an HTML page that needs nothing else: it loads nothing, it sends nothing, and no script runs in it but its
 * own, which is made of the project's own source.
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
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${trusted(hash)}'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${trusted(PAGE_STYLE)}</style>
</head>
<body>
<header><div><h1>${title}</h1>${lead}</div>${THEME_CHOICE}</header>
<main>
<section class="warnings" aria-labelledby="warnings"><h2 id="warnings">Warnings</h2>${warningList(warnings, missing)}</section>
<section class="verdict" aria-labelledby="verdict"><h2 id="verdict">What it says</h2>${verdict}</section>
<nav aria-label="On this page"><ul>${sections.map((section) => markup`<li><a href="#${section.id}">${section.title}</a></li>`)}</ul></nav>
${sections.map((section) => markup`<section aria-labelledby="${section.id}"><h2 id="${section.id}">${section.title}</h2>
${section.body}</section>
`)}</main>
${data}
<script>${trusted(script)}</script>
</body>
</html>
`.markup;
}

/** All of them are in the page; the first ones open, so that many do not push away what else there is to say. */
function warningList(warnings: readonly string[], missing: readonly string[]): Markup {
  const open = warnings.length <= WARNINGS_OPEN + 2 ? warnings : warnings.slice(0, WARNINGS_OPEN);
  return markup`${open.length === 0 ? markup`<p>None.</p>` : items(open)}${closed(`and ${warnings.length - open.length} more`, warnings.slice(open.length))}${closed(`Why figures are missing (${missing.length})`, missing)}`;
}

function items(texts: readonly string[]): Markup {
  return markup`<ul>${texts.map((text) => markup`<li>${text}</li>`)}</ul>`;
}

function closed(summary: string, texts: readonly string[]): Markup | false {
  return texts.length > 0 && markup`<details><summary>${summary}</summary>${items(texts)}</details>`;
}

/** It works without a script: the style sheet asks which one is chosen. */
const THEME_CHOICE = markup`<fieldset class="theme"><legend>Colours</legend>${[['auto', 'as the device'], ['light', 'light'], ['dark', 'dark']].map(([value, label]) =>
  markup`<label><input type="radio" name="theme" value="${value}"${value === 'auto' && markup` checked`}>${label}</label>`)}</fieldset>`;

import type { PageDocument } from './readout.ts';
import { startReadouts } from './readout.ts';
import { pluralize } from '../core/text.ts';
import type { EmbeddedReport } from './embedded-records.ts';
import { assessmentsOf, figuresOf, mismatches, unpackRecord } from './embedded-records.ts';
import { printedFigures } from './printed-figures.ts';

/** Starts the read-outs of a report, and checks its figures. */
export function startReport(page: PageDocument): void {
  startReadouts(page);
  void recheckFigures(page);
}

/**
 * Computes a report's figures again from its data, compares them with the printed ones, and writes the result into the
 * page.
 */
async function recheckFigures(page: PageDocument): Promise<void> {
  const place = page.getElementById('check');
  const data = page.getElementById('data')?.textContent;
  if (place === null || data === undefined || data === null) return;
  const say = (text: string, kind: string): void => {
    place.textContent = text;
    place.className = `check ${kind}`.trim();
  };
  if (typeof DecompressionStream === 'undefined') {
    say(
      'The figures were not computed again in this page: this browser is too old to unpack the data in this file.', '',
    );
    return;
  }
  try {
    const { count, wrong, left } = checked(page, await unpackData(data) as EmbeddedReport);
    if (wrong.length === 0) {
      const others = left === 0 ? ''
        : ` The data of the other settings are too large for this file: their ${left} figures are not checked.`;
      const checked = `${count} figures were computed again in this page from the data in this file`;
      say(`${checked}, and are equal to the printed ones.${others}`, 'good');
    } else {
      const which = pluralize(wrong.length, 'figure does', 'figures do');
      const first = wrong.slice(0, 20).join('; ');
      say(`${which} not follow from the data in this file: do not trust this report. ${first}`, 'bad');
    }
  } catch (error) {
    say(`The data in this file cannot be read: do not trust its figures. ${String(error)}`, 'bad');
  }
}

function checked(page: PageDocument, { record: packed, others, trials, figures }: EmbeddedReport): {
  /** The number of equal figures, in the data or on the page, each name once. */
  readonly count: number;
  readonly wrong: readonly string[];
  /** The number of figures on the page that cannot be computed. */
  readonly left: number;
} {
  const record = unpackRecord(packed);
  const assessments = assessmentsOf({
    record, others: Object.fromEntries(Object.entries(others).map(([name, other]) => [name, unpackRecord(other)])),
    trials,
  });
  const wrong = mismatches(figures, figuresOf(assessments)).map(({ of, figure, embedded, computed }) =>
    `${of}: ${figure} is ${JSON.stringify(embedded)}, the data give ${JSON.stringify(computed)}`);
  const printed = printedFigures(record, assessments);
  const names = new Set(Object.entries(figures).flatMap(([of, metrics]) =>
    Object.keys(metrics).map((metric) => `${of}.${metric}`)));
  const left = new Set<string>();
  for (const element of page.querySelectorAll('[data-figure]')) {
    const name = element.getAttribute('data-figure') ?? '';
    const isLeft = name.startsWith('setting ') && !assessments.has(name.slice(0, name.indexOf('.')));
    (isLeft ? left : names).add(name);
    if (isLeft) continue;
    const expected = printed.get(name);
    const text = element.textContent ?? '';
    if (text === expected) continue;
    wrong.push(`${name} is printed as “${text}”, the data give “${expected ?? 'nothing'}”`);
  }
  return { count: names.size, wrong, left: left.size };
}

/** Returns the data of a report from its deflated JSON in base64. Throws where they are damaged. */
export async function unpackData(packed: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(packed.trim()), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).json();
}

import type { EmbeddedReport } from './embedded.ts';
import { figuresOf, mismatches, unpackRecord } from './embedded.ts';

/** The part of a browser's document that the page needs. */
interface PageDocument {
  getElementById(id: string): { textContent: string | null; className: string } | null;
}

/** Computes a report's figures again from the data it carries, and says in the page what came of it. */
export function recheck(page: PageDocument): void {
  const place = page.getElementById('check');
  const data = page.getElementById('data')?.textContent;
  if (place === null) return;
  const say = (text: string, kind: string): void => {
    place.textContent = text;
    place.className = `check ${kind}`;
  };
  if (data === undefined || data === null) {
    say('This file carries no data: its figures cannot be computed again.', 'unknown');
    return;
  }
  try {
    const { record, figures } = JSON.parse(data) as EmbeddedReport;
    const wrong = mismatches(figures, figuresOf(unpackRecord(record)));
    if (wrong.length === 0) {
      const count = Object.values(figures).reduce((sum, metrics) => sum + Object.keys(metrics).length, 0);
      say(`All ${count} figures were computed again in this page, from the data in this file: they agree.`, 'good');
    } else {
      const named = wrong.slice(0, 20).map(({ of, figure, embedded, computed }) => `${of}: ${figure} is ${JSON.stringify(embedded)}, the data lead to ${JSON.stringify(computed)}`);
      say(`${wrong.length} figures do not follow from the data in this file: do not believe it. ${named.join('; ')}`, 'bad');
    }
  } catch (error) {
    say(`The data in this file cannot be read: do not believe its figures. ${String(error)}`, 'bad');
  }
}

import { styleText } from 'node:util';
import type { Check } from '../../daemon/doctor/check.ts';
import { CHECK_GROUPS } from '../../daemon/doctor/check.ts';
import { pluralize, printable } from '../../core/text.ts';

/** Longer than any message with its paths. */
const SHOWN = 1_000;
const MARKS = { fault: 'FAULT', warning: 'warning', ok: 'ok' } as const;
const COLOURS = { fault: 'red', warning: 'yellow', ok: 'green' } as const;
const MARK_WIDTH = 9;

/** Returns the results for people: what needs a person first, with its fix, then what is well, by group. */
export function doctorText(checks: readonly Check[], { colour }: { readonly colour: boolean }): string {
  const [faults, warnings] = [checks.filter(({ level }) => level === 'fault'),
    checks.filter(({ level }) => level === 'warning')];
  const well = CHECK_GROUPS.flatMap((group) => {
    const own = checks.filter((check) => check.group === group && check.level === 'ok');
    return own.length === 0 ? [] : [`\n  ${group}\n`, ...own.map((check) => line(check, colour))];
  });
  return [
    ...[...faults, ...warnings].map((check) => `${line(check, colour)}${' '.repeat(4 + MARK_WIDTH)}fix  `
      + `${printable(check.fix ?? '', SHOWN)}\n`),
    ...well,
    `\n  ${pluralize(checks.length, 'check')}, ${pluralize(faults.length, 'fault')}, `
      + `${pluralize(warnings.length, 'warning')}\n`,
  ].join('');
}

function line({ level, name, message }: Check, colour: boolean): string {
  const mark = MARKS[level].padEnd(MARK_WIDTH);
  return `    ${colour ? styleText(COLOURS[level], mark, { validateStream: false }) : mark}${name}: `
    + `${printable(message, SHOWN)}\n`;
}

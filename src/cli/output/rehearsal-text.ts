import { styleText } from 'node:util';
import { pluralize, printable } from '../../core/text.ts';
import type { Rehearsal, RouteVerdict } from '../../daemon/rehearsal/rehearse.ts';

const SHOWN = 1_000;

/** Returns a rehearsal as plain data. */
export function rehearsalJson({ ok, host, routes, profile, checks }: Rehearsal): Readonly<Record<string, unknown>> {
  return {
    ok, host,
    routes: routes.map(({ pair, route, size, refusal, router, reading }) => ({
      pair, route, size, verdict: refusal === undefined ? 'allow' : 'deny', code: refusal?.code ?? null,
      message: refusal?.message ?? null, setting: refusal?.setting ?? null, router: router ?? null,
      minimum_out_units: reading?.minimumOut ?? null, fee_lamports: reading?.feeLamports ?? null,
      tip_lamports: reading?.tipLamports ?? null, rent_lamports: reading?.rentLamports ?? null,
    })),
    profile: profile ?? null, checks,
  };
}

/** Returns a rehearsal for people: a verdict for each route, with its reason and the setting that would change it. */
export function rehearsalText({ host, routes, checks }: Rehearsal, { colour }: { readonly colour: boolean }): string {
  const of = host === 'embedded' ? 'the embedded service' : printable(host);
  const warnings = checks.filter(({ level }) => level === 'warning');
  const refused = routes.filter(({ refusal }) => refusal !== undefined).length;
  return [
    `\n  A rehearsal of ${of}: nothing is sent, and no signature leaves the signer.\n\n`,
    ...routes.map((route) => verdictText(route, colour)),
    ...warnings.map(({ name, message, fix }) => `  warning  ${name}: ${printable(message, SHOWN)}\n`
      + `           fix  ${printable(fix ?? '', SHOWN)}\n`),
    `\n  ${pluralize(routes.length, 'route')}, `,
    refused > 0 ? `${refused} refused\n` : `${routes.length === 1 ? 'it' : 'each'} could be signed\n`,
  ].join('');
}

function verdictText({ pair, route, size, refusal, router, reading }: RouteVerdict, colour: boolean): string {
  const mark = refusal === undefined ? 'ok' : 'REFUSED';
  const shown = colour ? styleText(refusal === undefined ? 'green' : 'red', mark.padEnd(7), { validateStream: false })
    : mark.padEnd(7);
  const head = `  ${shown}  ${printable(pair)}  ${printable(size)}  ${route}`
    + `${router === undefined ? '' : `, by ${printable(router, 40)}`}\n`;
  if (refusal !== undefined) {
    const { code, message, setting } = refusal;
    return `${head}           why      ${printable(code)}, ${printable(message, SHOWN)}\n`
      + (setting === undefined ? '' : `           setting  ${setting}\n`);
  }
  if (reading === undefined) return head;
  return `${head}           costs    fee ${reading.feeLamports}, tip ${reading.tipLamports}, rent at most `
    + `${reading.rentLamports} lamports\n`;
}

import { hostile } from './attack.ts';
import type { Act, Acts, Hands } from './attack.ts';

// Attacks on the terminal and on pages: texts that a terminal, a log or a browser would carry out.

const ESCAPES = [
  '\u001b[2J\u001b[H', '\u001b]0;gannet: all is well\u0007', '\u001b]8;;http://127.0.0.1/\u0007link\u001b]8;;\u0007',
  '\u001b]52;c;aG9zdGlsZQ==\u0007', '\u009b31m', '\r\u001b[A\u001b[2K', '\u0007', '\b\b\b\b', '\u0000',
].join('hostile');
const BIDI = '\u202ehostile\u202c \u2066text\u2069 \u200f \u061c \u2028 \u2029 \ufeff';
const LINES = 'hostile\n{"type":"summary","forged":true}\n\r\n[info] hostile-forged: all is well';
const SCRIPT = '</script><script>globalThis.hostile = 1</script><img src=x onerror="globalThis.hostile = 2">-->';
const FORMULA = '=cmd|\' /C calc\'!A0,"hostile"';

const says = (text: string): Act => ({ ctx, propose }: Hands) => {
  propose(ctx.alert('warning', text, { [text.slice(0, 100)]: text }));
  ctx.log(text);
};

const reasons = (text: string): Act => ({ pair, propose }: Hands) => {
  propose({
    kind: 'swap', inputMint: pair.quote.mint, outputMint: pair.base.mint, amount: 5_000_000_000n, reason: text,
    key: text.slice(0, 150),
  });
};

/** The attacks of this file, by name. */
export const TERMINAL_ATTACKS: Acts = {
  'escapes-in-an-alert': says(ESCAPES),
  'escapes-in-a-reason': reasons(ESCAPES),
  'bidi-in-an-alert': says(BIDI),
  'bidi-in-a-reason': reasons(BIDI),
  'lines-in-an-alert': says(LINES),
  'lines-in-a-reason': reasons(LINES),
  'script-in-an-alert': says(SCRIPT),
  'script-in-a-reason': reasons(SCRIPT),
  'formula-in-a-reason': reasons(FORMULA),
  'escapes-in-a-mint': ({ pair, propose }) => {
    propose({ kind: 'swap', inputMint: pair.quote.mint, outputMint: ESCAPES.slice(0, 40), amount: 1n, reason: 'x' });
  },
  'written-to-standard-output': () => {
    process.stdout.write(`${ESCAPES}${LINES}\n`);
    process.stderr.write(`${ESCAPES}${LINES}\n`);
  },
  'escapes-in-a-warning': () => { process.emitWarning(ESCAPES, { code: 'HOSTILE' }); },
  'escapes-in-an-error': () => { throw new Error(ESCAPES); },
};

export default hostile('hostile-terminal', TERMINAL_ATTACKS);

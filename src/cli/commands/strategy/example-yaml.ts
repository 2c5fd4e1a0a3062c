import type { DescribedParam } from '../../../config/strategies/describe-params.ts';

/** Values that parameters of the SDK's own types take. */
const EXAMPLES: Readonly<Record<string, string>> = {
  pair: 'SOL/USDC', amount: '"25 USDC"', token: 'SOL', duration: '1m', boolean: 'true',
  address: '"11111111111111111111111111111111"',
};

/**
 * Returns a configuration that runs a strategy: parameters without a default, and those with an example of the schema,
 * have a value, the others their default as a comment.
 */
export function exampleYaml(use: string, params: readonly DescribedParam[]): string {
  const own = params.filter(({ name }) => !/[.[]/.test(name));
  const lines = own.map(({ name, type, isNeeded, fallback, example }) => (
    isNeeded || example !== undefined ? `      ${name}: ${example ?? valueOf(name, type)}`
      : `      # ${name}: ${fallback ?? valueOf(name, type)}`));
  const isEmpty = own.every(({ isNeeded, example }) => !isNeeded && example === undefined);
  return [
    'strategies:', `  - use: ${/^[\w./:@-]+$/.test(use) ? use : JSON.stringify(use)}`, '    budget: "1000 USDC"',
    ...(own.length === 0 ? [] : [isEmpty ? '    params: {}' : '    params:', ...lines]),
  ].map((line) => `${line}\n`).join('');
}

function valueOf(name: string, type: string): string {
  const [word = ''] = type.split(/[ ,]/);
  if (Object.hasOwn(EXAMPLES, word)) return EXAMPLES[word]!;
  if (type.startsWith('"')) return type.split(' or ')[0]!;
  if (word === 'integer' || word === 'number') return numberOf(type);
  return word === 'list' ? '[]' : word === 'object' ? '{}' : name.toUpperCase();
}

function numberOf(type: string): string {
  const least = /at least (\S+?)(?:,|$)/.exec(type)?.[1];
  if (least !== undefined) return least;
  const above = Number(/above (\S+?)(?:,|$)/.exec(type)?.[1] ?? 0);
  const below = Number(/(?:below|at most) (\S+?)(?:,|$)/.exec(type)?.[1] ?? above + 2);
  return String(type.startsWith('integer') ? Math.floor(above) + 1 : (above + below) / 2);
}

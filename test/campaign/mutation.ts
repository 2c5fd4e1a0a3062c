import type { Choose } from './choose.ts';

/** Any value of JSON, and what a careless writer takes for one. */
type Tree = null | boolean | number | string | Tree[] | { [key: string]: Tree };

/**
 * Texts that readers stumble over: numbers that are none, other scripts, markup, ends of lines, prototypes, paths, very
 * long ones.
 */
export const HOSTILE_TEXTS: readonly string[] = [
  '', ' ', '0', '-0', '-1', '+1', '1.5', '1e3', '0x10', '007', 'NaN', 'Infinity', '18446744073709551615',
  '18446744073709551616', '9007199254740993', '340282366920938463463374607431768211456', '9'.repeat(400), 'null',
  'undefined', 'true', 'false', '[]', '{}', ',', ',,,', 'a,b', 'a'.repeat(2_000), '1'.repeat(44), 'z'.repeat(44),
  '11111111111111111111111111111111', '\u0000', '\n', 'a\r\nx: y', '\u202e', '\ufeff', '\ud800', '💥'.repeat(50), '٣',
  'ÅÅ', '<script>alert(1)</script>', '${7*7}', '%00', '%zz', '%s%n', '../..', '/etc/hosts', "' or 1=1 --", '__proto__',
  'constructor', 'toString', '$ref', 'SOL,USDC', 'ExactIn', 'fast', 'yes', '1970-01-01T00:00:00Z',
];
const HOSTILE_NUMBERS: readonly number[] = [
  0, -0, -1, 1, 1.5, 1e-9, 1e21, 1e308, -1e308, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 53 + 2, 2 ** 64, 255, 256, 65_536, 300,
  301, 10_001,
];

/** Returns a value that is hardly what was expected. */
export function hostileValue(choose: Choose, depth = 0): Tree {
  switch (choose.integer(0, depth > 3 ? 4 : 7)) {
    case 0: return null;
    case 1: return choose.chance(0.5);
    case 2: return choose.pick(HOSTILE_NUMBERS);
    case 3: case 4: return choose.pick(HOSTILE_TEXTS);
    case 5: return Array.from({ length: choose.integer(0, 4) }, () => hostileValue(choose, depth + 1));
    case 6: return Array<Tree>(choose.integer(100, 300)).fill(choose.pick(HOSTILE_TEXTS.slice(0, 10)));
    default: return Object.fromEntries(Array.from({ length: choose.integer(0, 3) }, () =>
      [choose.pick(HOSTILE_TEXTS).slice(0, 30), hostileValue(choose, depth + 1)]));
  }
}

/** Returns the value with something in it exchanged, taken away or added, wherever it may be. */
export function mutateValue(choose: Choose, value: unknown): Tree {
  const tree = value as Tree;
  if (typeof tree !== 'object' || tree === null || choose.chance(0.15)) return mutateLeaf(choose, tree);
  const names = Object.keys(tree);
  const name = names.length === 0 ? undefined : choose.pick(names);
  if (Array.isArray(tree)) {
    const copy = [...tree];
    const way = choose.integer(0, 4);
    if (name === undefined || way === 0) copy.splice(choose.integer(0, copy.length), 0, hostileValue(choose));
    else if (way === 1) copy.splice(Number(name), 1);
    else copy[Number(name)] = mutateValue(choose, copy[Number(name)]);
    return copy;
  }
  const copy: Record<string, Tree> = { ...tree };
  const way = choose.integer(0, 4);
  if (name === undefined || way === 0) copy[choose.pick(HOSTILE_TEXTS).slice(0, 40)] = hostileValue(choose);
  else if (way === 1) delete copy[name];
  else copy[name] = mutateValue(choose, copy[name]);
  return copy;
}

function mutateLeaf(choose: Choose, value: Tree): Tree {
  if (typeof value === 'string' && choose.chance(0.5)) return mutateText(choose, value);
  if (typeof value === 'number' && choose.chance(0.5))
    return choose.pick([-value, value + 0.5, value * 1e12, String(value)]);
  return hostileValue(choose);
}

/** Returns the text with a few characters exchanged, doubled, dropped or put in. */
export function mutateText(choose: Choose, text: string): string {
  let changed = text;
  for (let times = choose.integer(1, 3); times > 0; times--) {
    const at = choose.integer(0, changed.length);
    const size = choose.integer(0, 4);
    const put = choose.pick([
      '', changed.slice(at, at + size).repeat(2), choose.pick(HOSTILE_TEXTS).slice(0, 20),
      choose.bytes(size).toString('latin1'),
    ]);
    changed = `${changed.slice(0, at)}${put}${changed.slice(at + size)}`;
  }
  return changed;
}

/** Returns the JSON of a value as a broken transport might garble it. */
export function garbledJson(choose: Choose, value: unknown): string | Buffer {
  const text = JSON.stringify(value) ?? '';
  switch (choose.integer(0, 8)) {
    case 0: return text.slice(0, choose.integer(0, text.length));
    case 1: return mutateText(choose, text);
    case 2: return text.replace(/"(\w+)":/, '"$1":1,"$1":');
    case 3: return text.replace('{', '{"__proto__":{"polluted":true},');
    case 4: return `${'['.repeat(choose.integer(10, 20_000))}${text}`;
    case 5: return `${'{"a":'.repeat(200)}${text}${'}'.repeat(200)}`;
    case 6: return text.replace(/\d+/, (digits) =>
      choose.pick([`${digits}e999`, '18446744073709551615', '-0', '1E400', '0123']));
    case 7: return Buffer.concat([Buffer.from(text.slice(0, 20)), choose.bytes(8), Buffer.from(text.slice(20))]);
    default: return `"${'x'.repeat(choose.integer(60_000, 80_000))}"`;
  }
}

/** Returns bytes with some of them flipped, cut out or repeated. */
export function mutateBytes(choose: Choose, bytes: Buffer): Buffer {
  let changed = Buffer.from(bytes);
  for (let times = choose.integer(1, 6); times > 0 && changed.length > 0; times--) {
    const at = choose.integer(0, changed.length - 1);
    const size = choose.integer(1, 12);
    switch (choose.integer(0, 3)) {
      case 0: changed[at] = choose.integer(0, 255); break;
      case 1: changed = Buffer.concat([changed.subarray(0, at), changed.subarray(at + size)]); break;
      case 2: changed = Buffer.concat([changed.subarray(0, at + size), changed.subarray(at)]); break;
      default: changed = Buffer.concat([changed.subarray(0, at), choose.bytes(size), changed.subarray(at)]); break;
    }
  }
  return changed;
}

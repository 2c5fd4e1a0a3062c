import type { DataField, SwapLayout, SwapProgram } from './policy/swap-programs.ts';
import { layoutSwap } from './policy/swap-programs.ts';
import { isAddress } from '../solana/addresses.ts';
import { MAX_V1_TRANSACTION_BYTES } from '../solana/constants.ts';
import { invalid, itemsOf, memberOf, membersOf, textOf, wholeOf, yamlRoot, type YamlPlace } from './yaml-reading.ts';

const ACCOUNTS = {
  user: 'user', source: 'source', destination: 'destination', other_destination: 'otherDestination',
  input_mint: 'inputMint',
  output_mint: 'outputMint', input_program: 'inputProgram', output_program: 'outputProgram', fee_account: 'feeAccount',
} as const;
const FIELDS = {
  amount_in: { name: 'amountIn', bytes: [8] }, quoted_out: { name: 'quotedOut', bytes: [8] },
  platform_fee_bps: { name: 'platformFeeBps', bytes: [1, 2] },
} as const;
const SLIPPAGE = 'slippage_bps';
const SLIPPAGE_WIDTHS = [2] as const;
const MAX_PLACE = 255;
const MAX_OFFSET = MAX_V1_TRANSACTION_BYTES;

/**
 * Returns the swap programs that a dialect's text lists under `swap_programs`, each with a reader of those of its
 * instructions whose layout is given. Throws CONFIG_INVALID with file and line. Other keys of the dialect are ignored.
 */
export function readSwapPrograms(file: string, text: string): readonly SwapProgram[] {
  const seen = new Set<string>();
  return itemsOf(memberOf(yamlRoot(file, text), 'swap_programs')).map((place) => {
    membersOf(place, ['program', 'instructions']);
    const program = requiredText(place, 'program');
    if (!isAddress(program))
      throw invalid(memberOf(place, 'program')!, 'expected the address of a program, the base58 of 32 bytes');
    if (seen.has(program)) throw invalid(memberOf(place, 'program')!, 'this program is listed above already');
    seen.add(program);
    const layouts = itemsOf(memberOf(place, 'instructions')).map(readLayout);
    return { program, decode: layouts.length === 0 ? undefined : layoutSwap(layouts) };
  });
}

function readLayout(place: YamlPlace): SwapLayout {
  membersOf(place, ['name', 'discriminator', 'accounts', 'data', 'minimum']);
  const discriminator = requiredText(place, 'discriminator');
  if (!/^(?:[0-9a-f]{2}){1,16}$/.test(discriminator))
    throw invalid(memberOf(place, 'discriminator')!, 'expected 1 to 16 bytes as small hexadecimal digits');
  const accounts = Object.fromEntries(membersOf(required(place, 'accounts'), Object.keys(ACCOUNTS))
    .map(([key, member]) => [ACCOUNTS[key as keyof typeof ACCOUNTS], wholeOf(member, { min: 0, max: MAX_PLACE })]));
  const data = Object.fromEntries(membersOf(required(place, 'data'), [...Object.keys(FIELDS), SLIPPAGE])
    .filter(([key]) => key !== SLIPPAGE)
    .map(([key, member]) =>
      [FIELDS[key as keyof typeof FIELDS].name, readField(member, FIELDS[key as keyof typeof FIELDS].bytes)]));
  for (const key of ['user', 'source', 'destination', 'output_mint']) required(required(place, 'accounts'), key);
  for (const key of ['amount_in', 'quoted_out']) required(required(place, 'data'), key);
  return {
    discriminator: Buffer.from(discriminator, 'hex'), accounts: accounts as SwapLayout['accounts'],
    data: data as unknown as SwapLayout['data'],
    slippage: readSlippage(place),
  };
}

/** With a slippage it matters how the program rounds what it leaves, so that this has no default. */
function readSlippage(place: YamlPlace): SwapLayout['slippage'] {
  const bps = memberOf(required(place, 'data'), SLIPPAGE);
  const minimum = memberOf(place, 'minimum');
  if (bps === undefined) {
    if (minimum !== undefined)
      throw invalid(minimum, `expected the key "minimum" only beside data.${SLIPPAGE}: without it nothing is rounded`);
    return undefined;
  }
  const rounding = textOf(required(place, 'minimum'));
  if (rounding !== 'ceil' && rounding !== 'floor')
    throw invalid(minimum!, 'expected "ceil" or "floor": how the program rounds the least output');
  return { bps: readField(bps, SLIPPAGE_WIDTHS), minimum: rounding };
}

/** `8` where the width is fixed, else `{ at: 8, bytes: 2 }`. */
function readField(place: YamlPlace, widths: readonly DataField['bytes'][]): DataField {
  const range = { min: -MAX_OFFSET, max: MAX_OFFSET };
  if (place.node.kind !== 'map') return { at: wholeOf(place, range), bytes: widths[0]! };
  membersOf(place, ['at', 'bytes']);
  const bytes = widths.find((width) => width === wholeOf(required(place, 'bytes'), { min: 1, max: 8 }));
  if (bytes === undefined) throw invalid(place, `expected a length of ${widths.join(' or ')} bytes`);
  return { at: wholeOf(required(place, 'at'), range), bytes };
}

function required(place: YamlPlace, key: string): YamlPlace {
  const found = memberOf(place, key);
  if (found === undefined) throw invalid(place, `expected the key "${key}"`);
  return found;
}

function requiredText(place: YamlPlace, key: string): string {
  return textOf(required(place, key))!;
}

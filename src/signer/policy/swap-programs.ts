import type { ResolvedInstruction } from './lookup-tables.ts';
import type { SwapTerms } from './instruction.ts';
import { TOKEN_PROGRAM, isTokenProgram } from '../../solana/constants.ts';
import { mulDiv } from '../../core/amount.ts';

/**
 * Returns the terms of a swap instruction; undefined for another instruction, `opaque` for one that may be an unknown
 * swap.
 */
type SwapDecoder = (instruction: ResolvedInstruction) => SwapTerms | 'opaque' | undefined;

/** An entry of the allow-list: a program and the decoder of its swaps. Swaps without a decoder need a simulation. */
export interface SwapProgram {
  readonly program: string;
  readonly decode?: SwapDecoder | undefined;
}

/**
 * A little-endian number in an instruction's data: its first byte, negative from the end of the data, and its length.
 */
export interface DataField {
  readonly at: number;
  readonly bytes: 1 | 2 | 8;
}

/** One kind of instruction of a swap program: the positions of its accounts and its amounts. */
export interface SwapLayout {
  /** The first bytes of the data. */
  readonly discriminator: Uint8Array;
  /** Indexes into the instruction's accounts. */
  readonly accounts: {
    readonly user: number;
    /** The program itself for a payment in native SOL. */
    readonly source: number;
    /** The program itself for an output in native SOL. */
    readonly destination: number;
    /** Gets the output in place of `destination`, unless it is the program itself. */
    readonly otherDestination?: number | undefined;
    readonly inputMint?: number | undefined;
    readonly outputMint: number;
    readonly inputProgram?: number | undefined;
    readonly outputProgram?: number | undefined;
    readonly feeAccount?: number | undefined;
  };
  readonly data: {
    readonly amountIn: DataField;
    /** The quoted output; the minimum output is this less the slippage. */
    readonly quotedOut: DataField;
    readonly platformFeeBps?: DataField | undefined;
  };
  /** Undefined where the quoted output is the minimum itself. */
  readonly slippage?: {
    readonly bps: DataField;
    /** How the program rounds the minimum: `ceil` where it rounds down what it takes off the quoted output. */
    readonly minimum: 'ceil' | 'floor';
  } | undefined;
}

/** The swap program of the embedded chain. */
export const CONSTANT_PRODUCT_PROGRAM = 'GannetSwap111111111111111111111111111111111';
/** The swap programs that have a decoder here. */
const SWAP_DECODERS: ReadonlyMap<string, SwapDecoder> = new Map([[CONSTANT_PRODUCT_PROGRAM, constantProductSwap]]);
const SWAP_TAG = 1;
const DATA_BYTES = 24;
const MAX_HOPS = 4;
const MAX_BPS = 10_000;

/** Returns the allow-list of some programs, each with its decoder where there is one. */
export function swapPrograms(programs: readonly string[] = [...SWAP_DECODERS.keys()]): readonly SwapProgram[] {
  return programs.map((program) => ({ program, decode: SWAP_DECODERS.get(program) }));
}

/** The terms of a swap of 1 to 4 hops; undefined where the program itself would refuse the form. */
function constantProductSwap({ accounts, data }: ResolvedInstruction): SwapTerms | undefined {
  if (data.length !== DATA_BYTES) return undefined;
  const view = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const hops = view.readUInt8(1);
  const platformFeeBps = view.readUInt16LE(2);
  const hasForm = view.readUInt8(0) === SWAP_TAG && hops >= 1 && hops <= MAX_HOPS && platformFeeBps <= MAX_BPS
    && view.readUInt32LE(4) === 0;
  if (!hasForm || accounts.length !== 6 + 5 * hops) return undefined;
  const [user, source, destination, feeAccount] = accounts as readonly [string, string, string, string];
  const mints = Array.from({ length: hops + 1 }, (_, i) =>
    ({ mint: accounts[4 + 2 * i]!, program: accounts[5 + 2 * i]! }));
  if (!mints.every(({ program }) => isTokenProgram(program))) return undefined;
  const [first, last] = [mints[0]!, mints.at(-1)!];
  return {
    user, source, destination,
    inputMint: first.mint, inputProgram: first.program, outputMint: last.mint, outputProgram: last.program,
    amountIn: view.readBigUInt64LE(8),
    minimumOut: view.readBigUInt64LE(16),
    platformFeeBps,
    feeAccount: platformFeeBps === 0 ? undefined : feeAccount,
    unproven: undefined,
  };
}

/**
 * Returns a decoder of one program's swaps by its layouts. An instruction without a layout is `opaque`. One that begins
 * like a layout but lacks its form is no swap (undefined). Amounts at an offset from the end of the data are unproven:
 * the program reads from the front, and further bytes could fake any amount.
 */
export function layoutSwap(
  layouts: readonly SwapLayout[],
): (instruction: ResolvedInstruction) => SwapTerms | 'opaque' | undefined {
  return (instruction) => {
    const data = Buffer.from(instruction.data.buffer, instruction.data.byteOffset, instruction.data.byteLength);
    const layout = layouts.find(({ discriminator }) => data.subarray(0, discriminator.length).equals(discriminator));
    return layout === undefined ? 'opaque' : readLayout(layout, data, instruction);
  };
}

function readLayout(
  layout: SwapLayout, data: Buffer, { program, accounts }: ResolvedInstruction,
): SwapTerms | undefined {
  const places = layout.accounts;
  const fields = [...Object.values(layout.data), layout.slippage?.bps].filter((field) => field !== undefined);
  if (Object.values(places).some((place) => place !== undefined && place >= accounts.length)) return undefined;
  if (!fields.every((field) => fits(field, data, layout.discriminator.length))) return undefined;

  const at = (place: number | undefined): string | undefined => (place === undefined ? undefined : accounts[place]);
  const present = (place: number | undefined): string | undefined => (at(place) === program ? undefined : at(place));
  const user = accounts[places.user]!;
  const inputProgram = at(places.inputProgram);
  const outputProgram = at(places.outputProgram);
  if (![inputProgram, outputProgram].every((owner) => owner === undefined || isTokenProgram(owner))) return undefined;
  const slippageBps = layout.slippage === undefined ? 0 : Number(read(layout.slippage.bps, data));
  const platformFeeBps = layout.data.platformFeeBps === undefined ? 0 : Number(read(layout.data.platformFeeBps, data));
  if (slippageBps > MAX_BPS || platformFeeBps > MAX_BPS) return undefined;
  return {
    user,
    source: present(places.source) ?? user,
    destination: present(places.otherDestination) ?? present(places.destination) ?? user,
    inputMint: at(places.inputMint), inputProgram,
    outputMint: accounts[places.outputMint]!, outputProgram,
    amountIn: read(layout.data.amountIn, data),
    minimumOut: mulDiv(
      read(layout.data.quotedOut, data), BigInt(MAX_BPS - slippageBps), BigInt(MAX_BPS),
      layout.slippage?.minimum ?? 'floor',
    ),
    platformFeeBps,
    feeAccount: platformFeeBps === 0 ? undefined : present(places.feeAccount),
    unproven: unprovenReason(fields, outputProgram),
  };
}

function unprovenReason(fields: readonly DataField[], outputProgram: string | undefined): string | undefined {
  if (fields.some(({ at }) => at < 0))
    return 'with amounts at the end of its data, where further bytes could fake them';
  // Its mint may withhold part of a transfer, and a program may count the sent or the received amount.
  return outputProgram === TOKEN_PROGRAM ? undefined : 'for a token whose mint may withhold part of it';
}

/** Fields stand behind the discriminator and within the data. */
function fits({ at, bytes }: DataField, data: Buffer, from: number): boolean {
  const start = at < 0 ? data.length + at : at;
  return start >= from && start + bytes <= data.length;
}

function read({ at, bytes }: DataField, data: Buffer): bigint {
  const start = at < 0 ? data.length + at : at;
  return bytes === 8 ? data.readBigUInt64LE(start) : BigInt(data.readUIntLE(start, bytes));
}

import { mulDiv } from '../../../core/amount.ts';
import { isTokenProgram, TOKEN_PROGRAM } from '../known-programs.ts';
import type { ResolvedInstruction } from '../resolve.ts';
import type { SwapTerms } from './decoded.ts';

/** A number in an instruction's data: its first byte, negative from the end of the data, and its length. The lowest byte comes first. */
export interface DataField {
  readonly at: number;
  readonly bytes: 1 | 2 | 8;
}

/** One kind of instruction of a swap program, as data: where its accounts and its amounts stand. */
export interface SwapLayout {
  /** What the data begins with. */
  readonly discriminator: Uint8Array;
  /** Places among the instruction's accounts. */
  readonly accounts: {
    readonly user: number;
    /** The program itself stands here where the user pays in SOL of his own. */
    readonly source: number;
    /** The program itself stands here where the user gets SOL of his own. */
    readonly destination: number;
    /** Gets the output in place of `destination`, unless the program itself stands here. */
    readonly otherDestination?: number | undefined;
    readonly inputMint?: number | undefined;
    readonly outputMint: number;
    readonly inputProgram?: number | undefined;
    readonly outputProgram?: number | undefined;
    readonly feeAccount?: number | undefined;
  };
  readonly data: {
    readonly amountIn: DataField;
    /** What was quoted; the least that comes out is this less the slippage. */
    readonly quotedOut: DataField;
    readonly slippageBps?: DataField | undefined;
    readonly platformFeeBps?: DataField | undefined;
  };
}

const MAX_BPS = 10_000;

/**
 * Returns a reader of one program's swaps by its layouts. An instruction that none of them describes is `opaque`; one that
 * begins like a layout but is not of its form is no swap (undefined). Amounts that are counted from the end of the data
 * are unproven: the program reads from the front, and bytes after what it reads could pretend anything.
 */
export function layoutSwap(layouts: readonly SwapLayout[]): (instruction: ResolvedInstruction) => SwapTerms | 'opaque' | undefined {
  return (instruction) => {
    const data = Buffer.from(instruction.data.buffer, instruction.data.byteOffset, instruction.data.byteLength);
    const layout = layouts.find(({ discriminator }) => data.subarray(0, discriminator.length).equals(discriminator));
    return layout === undefined ? 'opaque' : readLayout(layout, data, instruction);
  };
}

function readLayout(layout: SwapLayout, data: Buffer, { program, accounts }: ResolvedInstruction): SwapTerms | undefined {
  const places = layout.accounts;
  const fields = Object.values(layout.data).filter((field) => field !== undefined);
  if (Object.values(places).some((place) => place !== undefined && place >= accounts.length)) return undefined;
  if (!fields.every((field) => fits(field, data, layout.discriminator.length))) return undefined;

  const at = (place: number | undefined): string | undefined => (place === undefined ? undefined : accounts[place]);
  const present = (place: number | undefined): string | undefined => (at(place) === program ? undefined : at(place));
  const user = accounts[places.user]!;
  const inputProgram = at(places.inputProgram);
  const outputProgram = at(places.outputProgram);
  if (![inputProgram, outputProgram].every((owner) => owner === undefined || isTokenProgram(owner))) return undefined;
  const slippageBps = layout.data.slippageBps === undefined ? 0 : Number(read(layout.data.slippageBps, data));
  const platformFeeBps = layout.data.platformFeeBps === undefined ? 0 : Number(read(layout.data.platformFeeBps, data));
  if (slippageBps > MAX_BPS || platformFeeBps > MAX_BPS) return undefined;
  return {
    user,
    source: present(places.source) ?? user,
    destination: present(places.otherDestination) ?? present(places.destination) ?? user,
    inputMint: at(places.inputMint), inputProgram,
    outputMint: accounts[places.outputMint]!, outputProgram,
    amountIn: read(layout.data.amountIn, data),
    minimumOut: mulDiv(read(layout.data.quotedOut, data), BigInt(MAX_BPS - slippageBps), BigInt(MAX_BPS), 'floor'),
    platformFeeBps,
    feeAccount: platformFeeBps === 0 ? undefined : present(places.feeAccount),
    unproven: doubtOf(fields, outputProgram),
  };
}

function doubtOf(fields: readonly DataField[], outputProgram: string | undefined): string | undefined {
  if (fields.some(({ at }) => at < 0)) return 'with amounts at the end of its data, where more bytes could pretend them';
  // A mint may keep back part of whatever is moved; whether a program counts what it sends or what arrives, nobody here knows.
  return outputProgram === TOKEN_PROGRAM ? undefined : 'for a token whose mint may keep part of it back';
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

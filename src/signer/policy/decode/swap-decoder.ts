import type { ResolvedInstruction } from '../resolve.ts';
import { constantProductSwap, CONSTANT_PRODUCT_PROGRAM } from './constant-product-swap.ts';
import type { SwapTerms } from './decoded.ts';

/** Reads the terms out of an instruction of one swap program; undefined where it is none, `opaque` where it may be one that nobody here can read. */
export type SwapDecoder = (instruction: ResolvedInstruction) => SwapTerms | 'opaque' | undefined;

/** An entry of the allow-list: a program, and how its swaps are read. Without a decoder they need a simulation. */
export interface SwapProgram {
  readonly program: string;
  readonly decode?: SwapDecoder | undefined;
}

/** The swap programs that are read here. */
export const SWAP_DECODERS: ReadonlyMap<string, SwapDecoder> = new Map([[CONSTANT_PRODUCT_PROGRAM, constantProductSwap]]);

/** Returns the allow-list of some programs, each with its decoder where there is one. */
export function swapPrograms(programs: readonly string[] = [...SWAP_DECODERS.keys()]): readonly SwapProgram[] {
  return programs.map((program) => ({ program, decode: SWAP_DECODERS.get(program) }));
}

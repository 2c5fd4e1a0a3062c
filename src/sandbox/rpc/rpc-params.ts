import bs58 from 'bs58';
import type { Address } from '../chain/addresses.ts';
import { isAddress } from '../chain/addresses.ts';
import type { Commitment, SandboxChain } from '../chain/chain.ts';

/** Codes of JSON-RPC 2.0, and those that Solana nodes add. */
export const RPC_CODE = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  preflightFailure: -32002,
  signatureVerificationFailure: -32003,
  blockCleanedUp: -32001,
  blockNotAvailable: -32004,
  slotSkipped: -32007,
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
} as const;

/** The error that a method answers instead of a result. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Returns the error of an invalid parameter. */
export function invalidParams(message: string): RpcError {
  return new RpcError(RPC_CODE.invalidParams, `Invalid params: ${message}`);
}

export type Params = readonly unknown[];
export type Config = Readonly<Record<string, unknown>>;
type RpcMethod = (params: Params) => unknown;
export type RpcMethods = Readonly<Record<string, RpcMethod>>;

/** The version that the node reports, which is the VM's generation. */
export const API_VERSION = '4.3.0';
export const FEATURE_SET = 0;
/** What a slot, or a number of them, may be. */
export const SLOT_RANGE = { min: 0, max: Number.MAX_SAFE_INTEGER };
const SIGNATURE_BASE58_LENGTH = 88;
const COMMITMENTS: readonly string[] = ['processed', 'confirmed', 'finalized'];

/** Returns the address at a position. Throws RpcError. */
export function addressParam(params: Params, index: number): Address {
  return addressOfText(params[index], `parameter ${index}`);
}

/** Returns a value as an address. Throws RpcError that names its place, `where`. */
export function addressOfText(value: unknown, where: string): Address {
  if (typeof value !== 'string' || !isAddress(value))
    throw invalidParams(`${where}: expected the base58 of 32 bytes, got ${shown(value)}`);
  return value;
}

/** Returns a value as a transaction signature in base58. Throws RpcError. */
export function signatureOfText(value: unknown, where: string): string {
  const bytes = typeof value === 'string' && value.length <= SIGNATURE_BASE58_LENGTH
    ? bs58.decodeUnsafe(value) : undefined;
  if (typeof value !== 'string' || bytes?.length !== 64)
    throw invalidParams(`${where}: expected the base58 of a signature's 64 bytes, got ${shown(value)}`);
  return value;
}

/** Returns the slot at a position. Throws RpcError. */
export function slotParam(params: Params, index: number): number {
  const slot = integerOf(params[index], `parameter ${index}`, SLOT_RANGE);
  if (slot === undefined) throw invalidParams(`parameter ${index}: expected a slot`);
  return slot;
}

/** Returns the list at a position, of at most `limit` items. Throws RpcError. */
export function listParam(params: Params, index: number, limit: number): readonly unknown[] {
  const value = params[index];
  if (!Array.isArray(value)) throw invalidParams(`parameter ${index}: expected an array, got ${shown(value)}`);
  if (value.length > limit)
    throw invalidParams(`parameter ${index}: too many inputs provided; max ${limit}, got ${value.length}`);
  return value;
}

/** Returns the text at a position. Throws RpcError. */
export function stringParam(params: Params, index: number): string {
  const value = params[index];
  if (typeof value !== 'string') throw invalidParams(`parameter ${index}: expected a string, got ${shown(value)}`);
  return value;
}

/** Returns the configuration object at a position, empty when it was left out. Throws RpcError. */
export function configParam(params: Params, index: number): Config {
  return objectOf(params[index], `parameter ${index}`);
}

/** Returns a value as an object, empty for none. Throws RpcError. */
export function objectOf(value: unknown, where: string): Config {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw invalidParams(`${where}: expected an object, got ${shown(value)}`);
  return value as Config;
}

/** Returns a whole number in `range`, or undefined when it was left out. Throws RpcError. */
export function integerOf(value: unknown, where: string, range: { min: number; max: number }): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < range.min || value > range.max) {
    throw invalidParams(`${where}: expected an integer of ${range.min} to ${range.max}, got ${shown(value)}`);
  }
  return value;
}

/** Returns a flag, false when it was left out. Throws RpcError. */
export function flagOf(config: Config, name: string): boolean {
  const value = config[name];
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw invalidParams(`${name}: expected true or false, got ${shown(value)}`);
  return value;
}

/** Returns one of the allowed words, or undefined when it was left out. Throws RpcError. */
export function choiceOf<Choice extends string>(
  value: unknown, where: string, choices: readonly Choice[],
): Choice | undefined {
  if (value === undefined || value === null) return undefined;
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw invalidParams(`${where}: expected one of ${choices.join(', ')}, got ${shown(value)}`);
  return found;
}

/** Returns the commitment of a configuration; finalized when it was left out, as nodes do. Throws RpcError. */
export function commitmentOf(config: Config, name = 'commitment'): Commitment {
  return choiceOf(config[name], name, COMMITMENTS as readonly Commitment[]) ?? 'finalized';
}

/** Returns the commitment of a read, having checked that its view has reached `minContextSlot`. Throws RpcError. */
export function viewOf(chain: SandboxChain, config: Config, commitmentName = 'commitment'): Commitment {
  const commitment = commitmentOf(config, commitmentName);
  const minContextSlot =
    integerOf(config['minContextSlot'], 'minContextSlot', { min: 0, max: Number.MAX_SAFE_INTEGER });
  const contextSlot = chain.slotAt(commitment);
  if (minContextSlot !== undefined && contextSlot < minContextSlot) {
    throw new RpcError(RPC_CODE.minContextSlotNotReached, 'Minimum context slot has not been reached', { contextSlot });
  }
  return commitment;
}

/** Returns a value with the slot it was read at. */
export function withContext<Value>(
  chain: SandboxChain, commitment: Commitment, value: Value,
): { context: { apiVersion: string; slot: number }; value: Value } {
  return { context: { apiVersion: API_VERSION, slot: chain.slotAt(commitment) }, value };
}

/** Returns a found value as text, short enough for a message. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 48));
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value).slice(0, 48);
}

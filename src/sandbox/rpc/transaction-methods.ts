import bs58 from 'bs58';
import { isGannetError, messageOf } from '../../core/errors.ts';
import type { Commitment, SandboxChain, SimulationResult } from '../chain/chain.ts';
import { transactionFee } from '../chain/fees.ts';
import {
  decodeMessage, decodeTransaction, MAX_TRANSACTION_BYTES, MAX_VERSION_1_BYTES, UndecodableError,
} from '../chain/transaction-bytes.ts';
import { describeTransactionError } from '../chain/transaction-error.ts';
import { accountEncoder, encodingOf } from './account-encoding.ts';
import type { Config, RpcMethods } from './rpc-params.ts';
import {
  RPC_CODE, RpcError, addressOfText, addressParam, choiceOf, commitmentOf, configParam, flagOf, integerOf,
  invalidParams, objectOf, shown, stringParam, viewOf, withContext,
} from './rpc-params.ts';
import { encodeBalances, encodeInnerInstructions, encodeReturnData } from './transaction-encoding.ts';

const LIMITS = {
  base58: { text: 1_683, bytes: MAX_TRANSACTION_BYTES }, base64: { text: 1_644, bytes: MAX_TRANSACTION_BYTES },
} as const;
const VERSION_1_LIMITS = { text: 5_464, bytes: MAX_VERSION_1_BYTES } as const;
/** Base64 of version 1 begins so: its first byte is 0x81, and the count of signers that follows is below 16. */
const VERSION_1_BASE64 = 'gQ';
const MAX_AIRDROP_LAMPORTS = 2 ** 52;
const WIRE_ENCODINGS = ['base58', 'base64'] as const;

/** Returns the methods that take transactions: sending, simulating, pricing, and the faucet. */
export function transactionMethods(chain: SandboxChain): RpcMethods {
  return {
    sendTransaction: (params) => {
      const config = configParam(params, 1);
      const bytes = transactionParam(stringParam(params, 0), config);
      const commitment = viewOf(chain, config, 'preflightCommitment');
      // There is one node and no gossip: a transaction that does not land now never will, so a retry is useless.
      integerOf(config['maxRetries'], 'maxRetries', { min: 0, max: Number.MAX_SAFE_INTEGER });
      if (!flagOf(config, 'skipPreflight')) preflight(chain, bytes, commitment);
      // As on a real node, a client that skips the preflight learns the outcome from the status, not from this answer.
      chain.land(bytes);
      return bs58.encode(decodeTransaction(bytes).signatures[0]!);
    },

    simulateTransaction: (params) => {
      const config = configParam(params, 1);
      const bytes = transactionParam(stringParam(params, 0), config);
      const commitment = viewOf(chain, config);
      const sigVerify = flagOf(config, 'sigVerify');
      const replaceRecentBlockhash = flagOf(config, 'replaceRecentBlockhash');
      if (sigVerify && replaceRecentBlockhash)
        throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
      const accounts = simulatedAccounts(chain, config);
      const simulation = chain.simulate(bytes, { sigVerify, replaceRecentBlockhash, commitment });
      if (simulation.error === 'SignatureFailure') throw signatureFailure();
      const { footprint } = simulation;
      return withContext(chain, commitment, {
        ...encodeSimulation(simulation),
        ...(footprint ? { ...encodeBalances(footprint.balances()), loadedAddresses: footprint.loadedAddresses } : {}),
        ...(footprint && flagOf(config, 'innerInstructions') ? { innerInstructions: encodeInnerInstructions(
          { ...simulation, accountKeys: footprint.accountKeys }, { parsed: true },
        ) } : {}),
        accounts: accounts(simulation),
        replacementBlockhash: replaceRecentBlockhash ? chain.latestBlockhash(commitment) : null,
      });
    },

    getFeeForMessage: (params) => {
      const bytes = decodeText(stringParam(params, 0), 'base64');
      const config = configParam(params, 1);
      const commitment = viewOf(chain, config);
      const decoded = orInvalid(() => decodeMessage(bytes));
      const isValid = chain.isLifetimeValid(decoded, commitment);
      return withContext(chain, commitment, isValid ? transactionFee(decoded).feeLamports : null);
    },

    requestAirdrop: (params) => {
      const address = addressParam(params, 0);
      const lamports = integerOf(params[1], 'parameter 1', { min: 1, max: MAX_AIRDROP_LAMPORTS });
      if (lamports === undefined) throw invalidParams('parameter 1: expected lamports');
      commitmentOf(configParam(params, 2));
      return airdrop(chain, address, BigInt(lamports));
    },
  };
}

/**
 * An airdrop that cannot land (below a new account's rent, above the largest balance, to a program) is an invalid
 * parameter.
 */
function airdrop(chain: SandboxChain, address: string, lamports: bigint): string {
  try {
    return chain.airdrop(address, lamports);
  } catch (error) {
    if (!isGannetError(error)) throw error;
    throw invalidParams(messageOf(error));
  }
}

function preflight(chain: SandboxChain, bytes: Uint8Array, commitment: Commitment): void {
  const simulation = chain.simulate(bytes, { sigVerify: true, commitment });
  if (simulation.error === null) return;
  if (simulation.error === 'SignatureFailure') throw signatureFailure();
  throw new RpcError(RPC_CODE.preflightFailure,
    `Transaction simulation failed: ${describeTransactionError(simulation.error)}`, {
      ...encodeSimulation(simulation),
    });
}

/** Returns the members of a simulation as a failed preflight has them, where the larger ones are always null. */
function encodeSimulation({ error, logs, unitsConsumed, returnData, footprint }: SimulationResult): object {
  return {
    err: error,
    logs,
    unitsConsumed,
    loadedAccountsDataSize: footprint?.loadedDataSize ?? 0,
    fee: footprint?.feeLamports ?? null,
    returnData: encodeReturnData(returnData),
    accounts: null,
    innerInstructions: null,
    loadedAddresses: null,
    preBalances: null,
    postBalances: null,
    preTokenBalances: null,
    postTokenBalances: null,
    replacementBlockhash: null,
  };
}

/** Returns the accounts that the client asked for after a simulation; null when it asked for none. */
function simulatedAccounts(
  chain: SandboxChain, config: Config,
): (simulation: SimulationResult) => (object | null)[] | null {
  if (config['accounts'] === undefined || config['accounts'] === null) return () => null;
  const wanted = objectOf(config['accounts'], 'accounts');
  const addresses = wanted['addresses'];
  if (!Array.isArray(addresses) || addresses.length > 64)
    throw invalidParams('accounts.addresses: expected an array of at most 64 addresses');
  const keys = addresses.map((key, index) => addressOfText(key, `accounts.addresses[${index}]`));
  const encode = accountEncoder(chain, 'processed', encodingOf(wanted, 'base64'));
  return ({ accountsAfter }) =>
    keys.map((key) => {
      const account = accountsAfter.get(key) ?? chain.account(key);
      return account && account.lamports > 0n ? encode(key, account) : null;
    });
}

function transactionParam(text: string, config: Config): Uint8Array {
  const bytes = decodeText(text, choiceOf(config['encoding'], 'encoding', WIRE_ENCODINGS) ?? 'base58');
  orInvalid(() => decodeTransaction(bytes));
  return bytes;
}

/**
 * The text's length is checked first: base58 takes time quadratic in it. As on a node, it stays at the packet, and only
 * base64 of version 1 may be longer.
 */
function decodeText(text: string, encoding: (typeof WIRE_ENCODINGS)[number]): Uint8Array {
  const limits = encoding === 'base64' && text.startsWith(VERSION_1_BASE64) ? VERSION_1_LIMITS : LIMITS[encoding];
  const { text: most, bytes: raw } = limits;
  if (text.length > most) throw tooLarge(`${encoding} encoded transaction too large: ${text.length} characters (max: `
    + `encoded/raw ${most}/${raw})`);
  const bytes = encoding === 'base58' ? bs58.decodeUnsafe(text) : decodeBase64(text);
  if (!bytes) throw invalidParams(`invalid ${encoding} encoding: ${shown(text)}`);
  if (bytes.length > raw) throw tooLarge(`decoded transaction too large: ${bytes.length} bytes (max: ${raw} bytes)`);
  return bytes;
}

/** Node's decoder skips characters that are not base64; a mistyped transaction must not be taken for another one. */
function decodeBase64(text: string): Uint8Array | undefined {
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)
    ? Buffer.from(text, 'base64') : undefined;
}

function orInvalid<Value>(decode: () => Value): Value {
  try {
    return decode();
  } catch (error) {
    if (error instanceof UndecodableError)
      throw new RpcError(RPC_CODE.invalidParams, `failed to deserialize transaction: ${error.message}`);
    throw error;
  }
}

function tooLarge(message: string): RpcError {
  return new RpcError(RPC_CODE.invalidParams, message);
}

function signatureFailure(): RpcError {
  return new RpcError(RPC_CODE.signatureVerificationFailure, 'Transaction signature verification failure');
}

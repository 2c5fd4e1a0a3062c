import type { Commitment, SandboxChain } from '../chain/chain.ts';
import type { Config, Params, RpcMethods } from './rpc-params.ts';
import {
  addressParam, choiceOf, commitmentOf, configParam, flagOf, integerOf, invalidParams, listParam, signatureOfText,
  viewOf, withContext,
} from './rpc-params.ts';
import { encodeLanded, memoOf, refuseVersion, TRANSACTION_ENCODINGS } from './transaction-encoding.ts';

const MAX_STATUSES = 256;
const MAX_SIGNATURES = 1_000;
/** Nodes keep recent statuses this long; older ones are found only with `searchTransactionHistory`. */
const STATUS_CACHE_SLOTS = 300;
const FINALIZED_AFTER_SLOTS = 32;

/** Returns the methods of the past: statuses, transactions, an account's signatures. */
export function historyMethods(chain: SandboxChain): RpcMethods {
  return {
    getSignatureStatuses: (params) => {
      const signatures = listParam(params, 0, MAX_STATUSES)
        .map((text, index) => signatureOfText(text, `parameter 0[${index}]`));
      const config = configParam(params, 1);
      const oldest = flagOf(config, 'searchTransactionHistory') ? 0 : chain.slot - STATUS_CACHE_SLOTS;
      return withContext(chain, 'processed', signatures.map((signature) => signatureStatus(chain, signature, oldest)));
    },

    getTransaction: (params) => {
      const signature = signatureOfText(params[0], 'parameter 0');
      const config = transactionConfig(params);
      const commitment = atLeastConfirmed(config);
      const encoding = choiceOf(config['encoding'], 'encoding', TRANSACTION_ENCODINGS) ?? 'json';
      const highestVersion =
        integerOf(config['maxSupportedTransactionVersion'], 'maxSupportedTransactionVersion', { min: 0, max: 255 });
      const landed = chain.transaction(signature);
      if (!landed || landed.slot > chain.slotAt(commitment)) return null;
      refuseVersion(landed, highestVersion);
      return encodeLanded(landed, { encoding, withVersion: highestVersion !== undefined });
    },

    getSignaturesForAddress: (params) => {
      const address = addressParam(params, 0);
      const config = configParam(params, 1);
      atLeastConfirmed(config);
      const commitment = viewOf(chain, config);
      const limit = integerOf(config['limit'], 'limit', { min: 1, max: MAX_SIGNATURES }) ?? MAX_SIGNATURES;
      const before = optionalSignature(config, 'before');
      const until = optionalSignature(config, 'until');
      return signaturesForAddress(chain, { address, commitment, limit, before, until });
    },
  };
}

/** Returns the commitment that a transaction of that slot has reached. */
function confirmationStatus(chain: SandboxChain, slot: number): Commitment {
  if (slot <= chain.slotAt('finalized')) return 'finalized';
  return slot <= chain.slotAt('confirmed') ? 'confirmed' : 'processed';
}

function signatureStatus(chain: SandboxChain, signature: string, oldestSlot: number): object | null {
  const status = chain.status(signature);
  if (!status || status.slot < oldestSlot) return null;
  const { slot, error } = status;
  const certainty = confirmationStatus(chain, slot);
  return {
    slot,
    confirmations: certainty === 'finalized' ? null : Math.min(chain.slot - slot, FINALIZED_AFTER_SLOTS - 1),
    err: error,
    status: error === null ? { Ok: null } : { Err: error },
    confirmationStatus: certainty,
  };
}

interface SignaturesQuery {
  address: string;
  commitment: Commitment;
  limit: number;
  before: string | undefined;
  until: string | undefined;
}

function signaturesForAddress(chain: SandboxChain, query: SignaturesQuery): object[] {
  const found: object[] = [];
  const newest = chain.slotAt(query.commitment);
  let started = query.before === undefined;
  for (const landed of chain.landedNewestFirst()) {
    if (landed.signature === query.until || found.length === query.limit) break;
    if (started && landed.slot <= newest && landed.accountKeys.includes(query.address)) {
      found.push({
        signature: landed.signature,
        slot: landed.slot,
        err: landed.error,
        memo: memoOf(landed),
        blockTime: landed.unixSeconds,
        confirmationStatus: confirmationStatus(chain, landed.slot),
      });
    }
    if (landed.signature === query.before) started = true;
  }
  return found;
}

/** The second parameter may be the encoding alone, an older form that clients still send. */
function transactionConfig(params: Params): Config {
  return typeof params[1] === 'string' ? { encoding: params[1] } : configParam(params, 1);
}

function atLeastConfirmed(config: Config): Commitment {
  const commitment = commitmentOf(config);
  if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`');
  return commitment;
}

function optionalSignature(config: Config, name: string): string | undefined {
  return config[name] === undefined || config[name] === null ? undefined : signatureOfText(config[name], name);
}

import { SOL_MINT, USDC_MINT } from '../../src/market/token.ts';
import type { Profile, SandboxAddresses } from '../../src/sandbox/sandbox.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';

/** The tokens that strangers trade here: SOL, a token of each token program, and one far from SOL. */
export const MINTS = {
  sol: SOL_MINT, usdc: USDC_MINT, pearl: 'Pear99mWVTgEXo4CHgPdY5gNgDTG3KqeEQ3j8zfZfij',
  /** Of the second token program. */
  buoy: 'BuoyHJCtC7kycWMhouUyksdYbQpLw2hw471cG3hhu9s',
} as const;

/** Short slots make confirmations quick; a blockhash still lasts longer than a busy machine needs to send. */
const SLOT_MS = 60;

type Query = Readonly<Record<string, string | number | boolean>>;
export type Json = Readonly<Record<string, unknown>>;

/** A running sandbox as a stranger sees it: addresses, and an HTTP service. */
export interface OutsideSandbox {
  readonly addresses: SandboxAddresses;
  /** Returns the answer of a service's endpoint. Throws with status and body where it is no 200. */
  get(path: string, query?: Query): Promise<Json>;
  /** Returns status and answer of a service's endpoint that takes a body. */
  post(path: string, body: unknown): Promise<{ readonly status: number; readonly json: Json }>;
  close(): Promise<void>;
}

/** Starts a sandbox in this process whose market stands still, so that quotes are exact. */
export async function startOutsideSandbox(profile: Profile): Promise<OutsideSandbox> {
  const sandbox = await startSandbox({ seed: 7, speed: 0, slotMs: SLOT_MS, profile });
  const { addresses } = sandbox;
  const headers = { 'x-api-key': 'any-key-will-do', 'content-type': 'application/json' };
  const ask = async (url: string, init: RequestInit): Promise<{ status: number; json: Json }> => {
    const response = await fetch(`${addresses.base_url}${url}`, { ...init, headers });
    return { status: response.status, json: await response.json() as Json };
  };
  return {
    addresses, close: () => sandbox.close(),
    async get(path, query = {}) {
      const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
      const { status, json } = await ask(text === '' ? path : `${path}?${text}`, {});
      if (status !== 200) throw new Error(`${path}?${text} answered ${status}: ${JSON.stringify(json)}`);
      return json;
    },
    post: (path, body) => ask(path, { method: 'POST', body: JSON.stringify(body) }),
  };
}

/** An instruction as the service writes it. */
export interface WireInstruction {
  readonly programId: string;
  readonly accounts: readonly { readonly pubkey: string; readonly isSigner: boolean; readonly isWritable: boolean }[];
  readonly data: string;
}

/** What a client needs of an answer of `/build` to compose a transaction. */
export interface Build {
  readonly inAmount: string;
  readonly outAmount: string;
  readonly otherAmountThreshold: string;
  readonly routePlan: readonly unknown[];
  readonly computeBudgetInstructions: readonly WireInstruction[];
  readonly setupInstructions: readonly WireInstruction[];
  readonly swapInstruction: WireInstruction;
  readonly cleanupInstruction: WireInstruction | null;
  readonly otherInstructions: readonly WireInstruction[];
  readonly addressesByLookupTableAddress: Readonly<Record<string, readonly string[]>> | null;
  readonly blockhashWithMetadata: { readonly blockhash: readonly number[]; readonly lastValidBlockHeight: number };
}

/** Returns the instructions of a build in the order in which a transaction has them. */
export function instructionsOf(build: Build): readonly WireInstruction[] {
  return [
    ...build.computeBudgetInstructions, ...build.setupInstructions, build.swapInstruction,
    ...(build.cleanupInstruction === null ? [] : [build.cleanupInstruction]), ...build.otherInstructions,
  ];
}

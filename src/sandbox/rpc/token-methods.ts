import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../chain/addresses.ts';
import type { Address } from '../chain/addresses.ts';
import type { Commitment, SandboxChain } from '../chain/chain.ts';
import { decodeMint, decodeTokenAccount, isTokenProgram } from '../chain/token-layout.ts';
import { mintDecimals, sortedByAddress } from './account-methods.ts';
import { encodeAccount, encodingOf, uiAmount } from './account-encoding.ts';
import { addressOfText, addressParam, configParam, viewOf, withContext } from './params.ts';
import type { Config, RpcMethods } from './params.ts';
import { invalidParams, RPC_CODE, RpcError } from './rpc-error.ts';

const LARGEST_ACCOUNTS = 20;

/** Returns the methods that understand the two token programs. */
export function tokenMethods(chain: SandboxChain): RpcMethods {
  return {
    getTokenAccountsByOwner: (params) => {
      const owner = addressParam(params, 0);
      const config = configParam(params, 2);
      const commitment = viewOf(chain, config);
      const { programs, mint } = tokenFilter(chain, commitment, configParam(params, 1));
      const encoding = encodingOf(config);
      const decimalsOf = mintDecimals(chain, commitment);
      const found = programs
        .flatMap((program) => sortedByAddress(chain.programAccounts(program, commitment)))
        .filter(([, account]) => {
          const token = decodeTokenAccount(account.data);
          return token?.owner === owner && (mint === undefined || token.mint === mint);
        })
        .map(([pubkey, account]) => ({ pubkey, account: encodeAccount(account, encoding, decimalsOf) }));
      return withContext(chain, commitment, found);
    },

    getTokenAccountBalance: (params) => {
      const address = addressParam(params, 0);
      const commitment = viewOf(chain, configParam(params, 1));
      const account = chain.account(address, commitment);
      if (!account) throw invalidParam('could not find account');
      const token = isTokenProgram(account.owner) ? decodeTokenAccount(account.data) : undefined;
      if (!token) throw invalidParam('not a Token account');
      return withContext(chain, commitment, uiAmount(token.amount, mintDecimals(chain, commitment)(token.mint)));
    },

    getTokenLargestAccounts: (params) => {
      const address = addressParam(params, 0);
      const commitment = viewOf(chain, configParam(params, 1));
      const account = chain.account(address, commitment);
      if (!account) throw invalidParam('could not find account');
      const mint = isTokenProgram(account.owner) ? decodeMint(account.data) : undefined;
      if (!mint) throw invalidParam('not a Token mint');
      const holdings = sortedByAddress(chain.programAccounts(account.owner, commitment))
        .flatMap(([holder, { data }]) => {
          const token = decodeTokenAccount(data);
          return token?.mint === address ? [{ holder, amount: token.amount }] : [];
        });
      const largest = holdings.sort((a, b) => (a.amount > b.amount ? -1 : a.amount < b.amount ? 1 : 0))
        .slice(0, LARGEST_ACCOUNTS);
      return withContext(chain, commitment, largest.map(({ holder, amount }) =>
        ({ address: holder, ...uiAmount(amount, mint.decimals) })));
    },

    getTokenSupply: (params) => {
      const address = addressParam(params, 0);
      const commitment = viewOf(chain, configParam(params, 1));
      const account = chain.account(address, commitment);
      if (!account) throw invalidParam('could not find account');
      const mint = isTokenProgram(account.owner) ? decodeMint(account.data) : undefined;
      if (!mint) throw invalidParam('not a Token mint');
      return withContext(chain, commitment, uiAmount(mint.supply, mint.decimals));
    },
  };
}

function tokenFilter(
  chain: SandboxChain, commitment: Commitment, filter: Config,
): { programs: readonly Address[]; mint: Address | undefined } {
  if (filter['mint'] !== undefined) {
    const mint = addressOfText(filter['mint'], 'mint');
    const owner = chain.account(mint, commitment)?.owner;
    if (owner === undefined || !isTokenProgram(owner)) throw invalidParam('could not find mint');
    return { programs: [owner], mint };
  }
  if (filter['programId'] === undefined) throw invalidParams('parameter 1: expected {mint} or {programId}');
  const program = addressOfText(filter['programId'], 'programId');
  if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) throw invalidParam('unrecognized Token program id');
  return { programs: [program], mint: undefined };
}

/** Clients match on these sentences, so they are the nodes' own. */
function invalidParam(reason: string): RpcError {
  return new RpcError(RPC_CODE.invalidParams, `Invalid param: ${reason}`);
}

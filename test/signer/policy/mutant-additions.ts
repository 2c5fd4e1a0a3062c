import {
  associatedTokenAddress, ASSOCIATED_TOKEN_PROGRAM, NATIVE_MINT, seededAddress, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../src/sandbox/chain/addresses.ts';
import { SWAP_PROGRAM_ID } from '../../../src/sandbox/chain/pools.ts';
import {
  createSeededAccount, initializeTokenAccount, type Instruction,
} from '../../../src/sandbox/service/build/instructions.ts';
import type { PolicyCode } from '../../../src/signer/policy/codes.ts';
import type { Golden } from './goldens.ts';
import { budget, instruction, key, openAssociated, system, token, u32, u64 } from './raw-instructions.ts';
import { isSwap, isTransferBy, TAG, taken, type TokenAccount, type Victim } from './victim.ts';

type Added = (victim: Victim) => readonly [code: PolicyCode, added: readonly Instruction[]] | undefined;

/**
 * Instructions that are put before the first or after the last one, written out or with all their accounts in a table.
 */
export const ADDITIONS: Readonly<Record<string, Added>> = {
  'a lamport to a stranger': (victim) =>
    [stranger(victim), [system(2, [u64(1n)], [[victim.wallet, 'sw'], [victim.attacker, 'w']])]],
  'all SOL to a stranger': (victim) =>
    ['TRANSFER_DESTINATION', [system(2, [u64(50_000_000_000n)], [[victim.wallet, 'sw'], [victim.attacker, 'w']])]],
  'a lamport wrapped too many': ({ golden, wallet }) =>
    (golden.expectation.inputMint === NATIVE_MINT && golden.kind.includes('wrapped')
      ? undefined : ['TRANSFER_EXCEEDS', [system(
        2, [u64(golden.expectation.inputMint === NATIVE_MINT ? golden.expectation.amountIn : 1n)],
        [[wallet, 'sw'], [associatedTokenAddress(wallet, NATIVE_MINT, TOKEN_PROGRAM), 'w']],
      )]]),
  'lamports into a wrapped account that cannot be': (victim) => [stranger(victim), [
    system(2, [u64(1n)], [
      [victim.wallet, 'sw'], [associatedTokenAddress(victim.wallet, NATIVE_MINT, TOKEN_2022_PROGRAM), 'w'],
    ])]],
  'assign': ({ wallet, attacker }) => ['ASSIGN_FORBIDDEN', [system(1, [key(attacker)], [[wallet, 'sw']])]],
  'assign with seed': ({ wallet, attacker }) => [
    'ASSIGN_FORBIDDEN',
    [system(10, [key(wallet), u64(1n), Buffer.from('x'), key(attacker)], [[attacker, 'w'], [wallet, 's']])],
  ],
  'allocate': ({ wallet }) => ['SYSTEM_FORBIDDEN', [system(8, [u64(10n)], [[wallet, 'sw']])]],
  'allocate with seed': ({ wallet, attacker }) =>
    ['SYSTEM_FORBIDDEN', [system(9, [key(wallet), u64(0n), u64(1n), key(attacker)], [[attacker, 'w'], [wallet, 's']])]],
  'create account': ({ wallet, attacker }) =>
    ['SYSTEM_FORBIDDEN', [system(0, [u64(5_000_000n), u64(0n), key(attacker)], [[wallet, 'sw'], [attacker, 'w']])]],
  'transfer with seed': ({ wallet, attacker }) => [
    'SYSTEM_FORBIDDEN',
    [system(11, [u64(1n), u64(0n), key(SYSTEM_PROGRAM)], [[wallet, 'w'], [wallet, 's'], [attacker, 'w']])],
  ],
  'an unknown kind of the system program': ({ wallet }) => ['SYSTEM_FORBIDDEN', [system(99, [], [[wallet, 'sw']])]],
  'a system instruction without a kind': ({ wallet }) =>
    ['INSTRUCTION_UNREADABLE', [instruction(SYSTEM_PROGRAM, Buffer.of(2), [[wallet, 'sw']])]],
  'a transfer with something behind it': ({ wallet, attacker }) =>
    ['INSTRUCTION_UNREADABLE', [system(2, [u64(1n), u64(0n)], [[wallet, 'sw'], [attacker, 'w']])]],
  'advance nonce': ({ wallet, attacker }) => ['NONCE_FORBIDDEN', [system(4, [], [[attacker, 'w'], [wallet, 's']])]],
  'withdraw from a nonce': ({ wallet, attacker }) =>
    ['NONCE_FORBIDDEN', [system(5, [u64(1n)], [[attacker, 'w'], [wallet, 's']])]],
  'initialize a nonce': ({ wallet, attacker }) => ['NONCE_FORBIDDEN', [system(6, [key(attacker)], [[wallet, 'w']])]],
  'authorize a nonce': ({ wallet, attacker }) =>
    ['NONCE_FORBIDDEN', [system(7, [key(attacker)], [[attacker, 'w'], [wallet, 's']])]],
  'upgrade a nonce': ({ attacker }) => ['NONCE_FORBIDDEN', [system(12, [], [[attacker, 'w']])]],
  'an account by seed for another program': ({ wallet, attacker }) =>
    ['SYSTEM_FORBIDDEN', [seeded({ wallet, owner: attacker })]],
  'an account by seed left behind': ({ wallet, golden }) =>
    [hasNative(golden) ? 'ACCOUNT_UNFINISHED' : 'SYSTEM_FORBIDDEN', [seeded({ wallet })]],
  'an account by seed at too high a rent': ({ wallet, golden }) =>
    [hasNative(golden) ? 'RENT_EXCEEDS' : 'SYSTEM_FORBIDDEN', [seeded({ wallet, lamports: 9_000_000n })]],
  'an account by seed elsewhere': ({ wallet, attacker, golden }) =>
    [hasNative(golden) ? 'ACCOUNT_SEED_MISMATCH' : 'SYSTEM_FORBIDDEN', [seeded({ wallet, account: attacker })]],
  'an account by seed started for another': ({ wallet, attacker, golden }) =>
    [hasNative(golden) ? 'AUTHORITY_FORBIDDEN' : 'SYSTEM_FORBIDDEN', [
      seeded({ wallet }), initializeTokenAccount({
        account: seededAddress(wallet, 'm', TOKEN_PROGRAM), owner: attacker, mint: NATIVE_MINT,
        tokenProgram: TOKEN_PROGRAM,
      })]],
  'a foreign account started': ({ attacker, loot, input }) => [
    'TOKEN_FORBIDDEN',
    [initializeTokenAccount({ account: loot, owner: attacker, mint: input.mint, tokenProgram: input.program })],
  ],
  'approve': ({ input, wallet, attacker }) =>
    ['APPROVAL_FORBIDDEN', [token(input.program, 4, [u64(1n)], [[input.account, 'w'], [attacker], [wallet, 's']])]],
  'approve checked': ({ input, wallet, attacker }) => ['APPROVAL_FORBIDDEN', [
    token(input.program, 13, [u64(1n), Buffer.of(input.decimals)], [
      [input.account, 'w'], [input.mint], [attacker], [wallet, 's'],
    ])]],
  'approve of another token': ({ other, wallet, attacker }) =>
    ['APPROVAL_FORBIDDEN', [token(other.program, 4, [u64(1n)], [[other.account, 'w'], [attacker], [wallet, 's']])]],
  'another owner': ({ input, wallet, attacker }) => [
    'AUTHORITY_FORBIDDEN',
    [token(input.program, 6, [Buffer.of(2, 1), key(attacker)], [[input.account, 'w'], [wallet, 's']])],
  ],
  'another close authority': ({ output, wallet, attacker }) => [
    'AUTHORITY_FORBIDDEN',
    [token(output.program, 6, [Buffer.of(3, 1), key(attacker)], [[output.account, 'w'], [wallet, 's']])],
  ],
  'another owner of another token': ({ other, wallet, attacker }) => [
    'AUTHORITY_FORBIDDEN',
    [token(other.program, 6, [Buffer.of(2, 1), key(attacker)], [[other.account, 'w'], [wallet, 's']])],
  ],
  'revoke': ({ input, wallet }) =>
    ['TOKEN_FORBIDDEN', [token(input.program, 5, [], [[input.account, 'w'], [wallet, 's']])]],
  'burn': ({ input, wallet }) =>
    ['TOKEN_FORBIDDEN', [token(input.program, 8, [u64(1n)], [[input.account, 'w'], [input.mint, 'w'], [wallet, 's']])]],
  'burn checked': ({ output, wallet }) => ['TOKEN_FORBIDDEN', [token(
    output.program, 15, [u64(1n), Buffer.of(output.decimals)],
    [[output.account, 'w'], [output.mint, 'w'], [wallet, 's']],
  )]],
  'mint': ({ input, wallet, loot }) =>
    ['TOKEN_FORBIDDEN', [token(input.program, 7, [u64(1n)], [[input.mint, 'w'], [loot, 'w'], [wallet, 's']])]],
  'freeze': ({ input, wallet }) =>
    ['TOKEN_FORBIDDEN', [token(input.program, 10, [], [[input.account, 'w'], [input.mint], [wallet, 's']])]],
  'thaw': ({ input, wallet }) =>
    ['TOKEN_FORBIDDEN', [token(input.program, 11, [], [[input.account, 'w'], [input.mint], [wallet, 's']])]],
  'a transfer with a fee of the mint': ({ input, wallet, loot }) => ['TOKEN_FORBIDDEN', [
    token(TOKEN_2022_PROGRAM, 26, [Buffer.of(1), u64(1n), Buffer.of(input.decimals), u64(0n)], [
      [input.account, 'w'], [input.mint], [loot, 'w'], [wallet, 's'],
    ])]],
  'lamports drawn out of a token account': ({ input, wallet, attacker }) =>
    ['TOKEN_FORBIDDEN', [token(TOKEN_2022_PROGRAM, 38, [], [[input.account, 'w'], [attacker, 'w'], [wallet, 's']])]],
  'more room in a token account': ({ output, wallet }) => ['TOKEN_FORBIDDEN', [
    token(TOKEN_2022_PROGRAM, 29, [Buffer.of(8, 0)], [
      [output.account, 'w'], [wallet, 'sw'], [SYSTEM_PROGRAM], [wallet, 's'],
    ])]],
  'what a mint kept back, drawn out': ({ output, wallet, attacker }) => [
    'TOKEN_FORBIDDEN',
    [token(TOKEN_2022_PROGRAM, 26, [Buffer.of(2)], [[output.mint, 'w'], [attacker, 'w'], [wallet, 's']])],
  ],
  'an approval within a batch': ({ input, wallet, attacker }) => ['TOKEN_FORBIDDEN', [
    token(TOKEN_PROGRAM, 255, [Buffer.of(3, 9, 4), u64(1n)], [[input.account, 'w'], [attacker], [wallet, 's']])]],
  'an approval of the output': ({ output, wallet, attacker }) => [
    'APPROVAL_FORBIDDEN',
    [token(output.program, 4, [u64(2n ** 64n - 1n)], [[output.account, 'w'], [attacker], [wallet, 's']])],
  ],
  'rent paid back that was never lent': ({ parts, wallet }) => (parts.payer === wallet
    || parts.instructions.some(({ programId, data, accounts }) =>
      programId === SYSTEM_PROGRAM && data[0] === 2 && accounts[1]!.pubkey === parts.payer)
    ? undefined : ['TRANSFER_EXCEEDS', [system(2, [u64(3_000_000n)], [[wallet, 'sw'], [parts.payer, 'w']])]]),
  'an account of the payer at the wallet’s cost': ({ parts, wallet, output, golden }) =>
    (parts.payer === wallet || parts.payer === golden.expectation.receiver ? undefined : ['ATA_OWNER', [openAssociated({
      payer: wallet, account: associatedTokenAddress(parts.payer, output.mint, output.program), owner: parts.payer,
      mint: output.mint, tokenProgram: output.program })]]),
  'a batch of token instructions': ({ input, wallet, loot }) => ['TOKEN_FORBIDDEN', [
    token(TOKEN_PROGRAM, 255, [Buffer.of(3, 9, 3), u64(1n)], [[input.account, 'w'], [loot, 'w'], [wallet, 's']])]],
  'a token instruction without data': ({ wallet }) =>
    ['TOKEN_FORBIDDEN', [instruction(TOKEN_PROGRAM, Buffer.alloc(0), [[wallet, 's']])]],
  'a unit of the input': (victim) => [taken(victim), [token(victim.input.program, TAG.transfer, [u64(1n)], [
    [victim.input.account, 'w'], [victim.loot, 'w'], [victim.wallet, 's'],
  ])]],
  'a unit of the input, checked': (victim) =>
    [taken(victim), [checked(victim.input, { to: victim.loot, by: victim.wallet, amount: 1n })]],
  'a unit of the input by a further signer': ({ input, wallet, loot }) => ['INSTRUCTION_UNREADABLE', [
    token(input.program, TAG.transfer, [u64(1n)], [[input.account, 'w'], [loot, 'w'], [wallet, 's'], [wallet, 's']])]],
  'the input by a delegate': ({ input, attacker, loot }) => [
    'TRANSFER_SOURCE', [token(input.program, TAG.transfer, [u64(1n)], [[input.account, 'w'], [loot, 'w'], [attacker]])],
  ],
  'the output by the co-signer': ({ output, attacker, parts, wallet }) => ['TRANSFER_SOURCE', [
    token(output.program, TAG.transfer, [u64(1n)], [
      [output.account, 'w'], [attacker, 'w'], parts.payer === wallet ? [attacker] : [parts.payer, 's'],
    ])]],
  'another token': ({ other, wallet, attacker }) =>
    ['MINT_UNEXPECTED', [checked(other, { to: attacker, by: wallet, amount: 1n })]],
  'another token, unchecked': ({ other, wallet, attacker }) => [
    'TRANSFER_SOURCE',
    [token(other.program, TAG.transfer, [u64(1n)], [[other.account, 'w'], [attacker, 'w'], [wallet, 's']])],
  ],
  'the output': ({ output, wallet, attacker }) => [
    'MINT_UNEXPECTED',
    [token(output.program, TAG.transfer, [u64(1n)], [[output.account, 'w'], [attacker, 'w'], [wallet, 's']])],
  ],
  'close elsewhere': ({ input, wallet, attacker }) => [
    'CLOSE_DESTINATION', [token(input.program, TAG.close, [], [[input.account, 'w'], [attacker, 'w'], [wallet, 's']])],
  ],
  'close another token elsewhere': ({ other, wallet, attacker }) => [
    'CLOSE_DESTINATION', [token(other.program, TAG.close, [], [[other.account, 'w'], [attacker, 'w'], [wallet, 's']])],
  ],
  'close another token': ({ other, wallet }) =>
    ['CLOSE_FORBIDDEN', [token(other.program, TAG.close, [], [[other.account, 'w'], [wallet, 'w'], [wallet, 's']])]],
  'an unknown program': ({ attacker, wallet }) =>
    ['PROGRAM_UNKNOWN', [instruction(attacker, Buffer.of(1), [[wallet, 'sw']])]],
  'a token program that is none': ({ attacker, input, loot, wallet }) =>
    ['PROGRAM_UNKNOWN', [token(attacker, TAG.transfer, [u64(1n)], [[input.account, 'w'], [loot, 'w'], [wallet, 's']])]],
  'an account for a stranger': ({ wallet, attacker, input, loot }) => [
    'ATA_OWNER',
    [openAssociated({ payer: wallet, account: loot, owner: attacker, mint: input.mint, tokenProgram: input.program })],
  ],
  'an account elsewhere': ({ wallet, attacker, output }) => ['ATA_MISMATCH', [openAssociated(
    { payer: wallet, account: attacker, owner: wallet, mint: output.mint, tokenProgram: output.program },
  )]],
  'an account under no token program': ({ wallet, attacker, output }) => ['ATA_MISMATCH', [openAssociated(
    { payer: wallet, account: output.account, owner: wallet, mint: output.mint, tokenProgram: attacker },
  )]],
  'an account for another token': ({ wallet, other }) => ['MINT_UNEXPECTED', [openAssociated(
    { payer: wallet, account: other.account, owner: wallet, mint: other.mint, tokenProgram: other.program },
  )]],
  'what is in a nested account': ({ wallet, input }) => ['TOKEN_FORBIDDEN', [openAssociated(
    { payer: wallet, account: input.account, owner: wallet, mint: input.mint, tokenProgram: input.program, kind: 2 },
  )]],
  'an associated account with something behind it': ({ wallet, input }) => ['INSTRUCTION_UNREADABLE', [
    instruction(ASSOCIATED_TOKEN_PROGRAM, Buffer.of(1, 0), [
      [wallet, 'sw'], [input.account, 'w'], [wallet], [input.mint], [SYSTEM_PROGRAM], [input.program],
    ])]],
  'a second price': () => ['BUDGET_INVALID', [budget(3, u64(1n))]],
  'units with a fee': () => ['BUDGET_INVALID', [budget(0, Buffer.concat([u32(200_000), u32(4_000_000)]))]],
  'a price with something behind it': () => ['BUDGET_INVALID', [budget(3, Buffer.concat([u64(1n), Buffer.of(0)]))]],
  'a swap program told something else': ({ wallet, input, loot }) => [
    'SWAP_UNREADABLE',
    [instruction(SWAP_PROGRAM_ID, Buffer.of(2, 1), [[wallet, 's'], [input.account, 'w'], [loot, 'w']])],
  ],
  'the swap a second time': ({ parts }) => {
    const swap = parts.instructions.find(isSwap);
    return swap === undefined ? undefined : ['SWAP_AMOUNT_EXCEEDS', [swap]];
  },
  'the maker’s part a second time': ({ parts, golden, wallet }) => {
    const paid = golden.expectation.maker === undefined ? undefined
      : parts.instructions.find((candidate) => isTransferBy(candidate, wallet));
    return paid === undefined ? undefined : ['TRANSFER_EXCEEDS', [paid]];
  },
  'a swap for a stranger': ({ parts, attacker }) => {
    const swap = parts.instructions.find(isSwap);
    return swap === undefined ? undefined : ['SWAP_USER', [withAccount(swap, 0, attacker)]];
  },
};

/** The code for a payment to another account: where tips are allowed it is one too many. */
function stranger({ golden }: Victim): PolicyCode {
  const { maxTipLamports = 0n } = golden.expectation;
  return maxTipLamports > 0n ? 'TIP_EXCEEDS' : 'TRANSFER_DESTINATION';
}

function hasNative({ expectation }: Golden): boolean {
  return [expectation.inputMint, expectation.outputMint].includes(NATIVE_MINT);
}

function seeded({ wallet, account, owner = TOKEN_PROGRAM, lamports = 2_039_280n }: {
  wallet: string; account?: string; owner?: string; lamports?: bigint;
}): Instruction {
  return createSeededAccount({
    payer: wallet, base: wallet, seed: 'm', account: account ?? seededAddress(wallet, 'm', owner), lamports, bytes: 165,
    owner,
  });
}

function checked(
  { account, mint, program, decimals }: TokenAccount, { to, by, amount }: { to: string; by: string; amount: bigint },
): Instruction {
  return token(
    program, TAG.transferChecked, [u64(amount), Buffer.of(decimals)], [[account, 'w'], [mint], [to, 'w'], [by, 's']],
  );
}

function withAccount(changed: Instruction, place: number, pubkey: string): Instruction {
  return { ...changed, accounts: changed.accounts.with(place, { ...changed.accounts[place]!, pubkey }) };
}

import {
  associatedTokenAddress, ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM, MEMO_PROGRAM, NATIVE_MINT, SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../src/sandbox/chain/addresses.ts';
import { SWAP_PROGRAM_ID } from '../../../src/sandbox/chain/pools.ts';
import type { Instruction } from '../../../src/sandbox/service/build/instructions.ts';
import type { PolicyCode } from '../../../src/signer/policy/codes.ts';
import type { Parts } from './decompile.ts';
import { budget, instruction, key, openAssociated, u64 } from './raw-instructions.ts';
import { isSwap, isTransferBy, TAG, taken, type Victim } from './victim.ts';

type Changed = (victim: Victim) => readonly [code: PolicyCode, parts: Parts] | undefined;

/** What is changed in the instructions that are there. */
export const CHANGES: Readonly<Record<string, Changed>> = {
  'a further signer': (victim) => [
    'SIGNER_UNKNOWN', appended(victim.parts, instruction(MEMO_PROGRAM, Buffer.from('hello'), [[victim.attacker, 's']])),
  ],
  'another fee payer': ({ parts, attacker }) => ['FEE_PAYER_FOREIGN', { ...parts, payer: attacker }],
  'a raised price': (victim) => raisedPrice(victim, 1_000_000_000n),
  'the highest price': (victim) => raisedPrice(victim, 2n ** 64n - 1n),
  'no limit of units in the message': ({ parts }) => (parts.config === undefined ? undefined
    : ['BUDGET_INVALID', { ...parts, config: { ...parts.config, computeUnitLimit: 0 } }]),
  'no limit of loaded bytes in the message': ({ parts: { config, ...parts } }) => {
    if (config === undefined) return undefined;
    const { loadedAccountsDataSizeLimit: _, ...rest } = config;
    return ['BUDGET_INVALID', { ...parts, config: rest }];
  },
  'a lamport more for priority in the message': ({ parts, golden, wallet }) =>
    (parts.config === undefined || parts.payer !== wallet ? undefined : ['FEE_EXCEEDS', { ...parts, config: {
      ...parts.config, priorityFeeLamports: golden.expectation.maxFeeLamports - 4_999n,
    } }]),
  'no limit of units': ({ parts, wallet }) => (parts.payer === wallet && unitPrice(parts) > 100n
    ? ['FEE_EXCEEDS', { ...parts, instructions: parts.instructions.filter(({ programId, data }) =>
      programId !== COMPUTE_BUDGET_PROGRAM || data[0] !== 2) }]
    : undefined),
  'a raised tip': ({ parts, golden, wallet }) => {
    const { maxTipLamports = 0n } = golden.expectation;
    const at = parts.instructions.findLastIndex(({ programId, data, accounts }) =>
      programId === SYSTEM_PROGRAM && data[0] === 2 && accounts[0]!.pubkey === wallet);
    return maxTipLamports === 0n || at < 0 || parts.payer !== wallet ? undefined
      : ['TIP_EXCEEDS', withAmount(parts, at, 4, 1n)];
  },
  'a swap into another account': (victim) =>
    swapChanged(victim, 'SWAP_DESTINATION', (swap) => withAccount(swap, 2, victim.attacker)),
  'a swap into a stranger’s account of the output': (victim) => swapChanged(victim, 'SWAP_DESTINATION', (swap) =>
    withAccount(swap, 2, associatedTokenAddress(victim.attacker, victim.output.mint, victim.output.program))),
  'a swap out of another account': (victim) =>
    swapChanged(victim, 'SWAP_SOURCE', (swap) => withAccount(swap, 1, victim.other.account)),
  'a swap for another': (victim) => swapChanged(victim, 'SWAP_USER', (swap) => withAccount(swap, 0, victim.attacker)),
  'a swap of one unit more': (victim) => swapChanged(victim, 'SWAP_AMOUNT_EXCEEDS', (swap) => added(swap, 8, 1n)),
  'a minimum of one unit less': (victim) => swapChanged(victim, 'SWAP_MINIMUM_BELOW', (swap) => added(swap, 16, -1n)),
  'no minimum': (victim) =>
    swapChanged(victim, 'SWAP_MINIMUM_BELOW', (swap) => added(swap, 16, -Buffer.from(swap.data).readBigUInt64LE(16))),
  'a swap into another token': (victim) =>
    swapChanged(victim, 'MINT_UNEXPECTED', (swap) => withAccount(swap, 4 + 2 * swap.data[1]!, victim.other.mint)),
  'a swap out of another token': (victim) =>
    swapChanged(victim, 'MINT_UNEXPECTED', (swap) => withAccount(swap, 4, victim.other.mint)),
  'a swap under no token program': (victim) =>
    swapChanged(victim, 'SWAP_UNREADABLE', (swap) => withAccount(swap, 5, victim.attacker)),
  'a higher fee of the swap': (victim) => swapChanged(victim, 'PLATFORM_FEE_EXCEEDS', (swap) => {
    const data = Buffer.from(swap.data);
    data.writeUInt16LE((victim.golden.expectation.maxPlatformFeeBps ?? 0) + 1, 2);
    return { ...swap, data };
  }),
  'another fee in the place of half the swap': ({ parts, golden, wallet, attacker }) => {
    const at = parts.instructions.findIndex((candidate) => isTransferBy(candidate, wallet));
    const swap = parts.instructions.findIndex(isSwap);
    if (at < 0 || swap < at || golden.expectation.amountIn < 100n
        || parts.instructions[at]!.accounts[1]!.pubkey !== golden.expectation.inputMint) return undefined;
    const half = Buffer.from(parts.instructions[swap]!.data).readBigUInt64LE(8) / 2n;
    const paid = withAccount(added(parts.instructions[at]!, 1, half), 2, attacker);
    return ['PLATFORM_FEE_EXCEEDS', replaced(
      { ...parts, instructions: replaced(parts, at, paid).instructions }, swap,
      added(parts.instructions[swap]!, 8, -half),
    )];
  },
  'nothing but the payment': ({ parts, golden }) =>
    (golden.expectation.maker !== undefined || !parts.instructions.some(isSwap)
      ? undefined
      : ['SWAP_MISSING', { ...parts, instructions: parts.instructions.filter((candidate) => !isSwap(candidate)) }]),
  'a unit more for the maker': (victim) => makerPaid(victim, 'TRANSFER_EXCEEDS', (paid) => added(paid, 1, 1n)),
  'a unit less for the maker': (victim) => makerPaid(victim, 'MAKER_AMOUNT_MISMATCH', (paid) => added(paid, 1, -1n)),
  'the maker’s part to another': (victim) => makerPaid(
    victim, taken(victim) === 'TRANSFER_DESTINATION' ? 'TRANSFER_DESTINATION' : 'PLATFORM_FEE_EXCEEDS',
    (paid) => withAccount(paid, 2, victim.loot),
  ),
  'a unit less from the maker': (victim) =>
    makerPays(victim, 'SWAP_MINIMUM_BELOW', (pays, offset) => added(pays, offset, -1n)),
  'the maker’s payment elsewhere': (victim) =>
    makerPays(victim, 'SWAP_MISSING', (pays, offset) => withAccount(pays, offset === 4 ? 1 : 2, victim.attacker)),
  'the maker’s payment out of another account': (victim) => (victim.output.mint === NATIVE_MINT
    ? makerPays(victim, 'SIGNER_UNKNOWN', (pays) => withAccount(pays, 0, victim.attacker, true))
    : makerPays(victim, 'TRANSFER_SOURCE', (pays) => withAccount(pays, 0, victim.attacker))),
  'what is closed, elsewhere': ({ parts, attacker }) => {
    const at = parts.instructions.findIndex(({ programId, data }) =>
      programId === TOKEN_PROGRAM && data[0] === TAG.close);
    return at < 0 ? undefined
      : ['CLOSE_DESTINATION', replaced(parts, at, withAccount(parts.instructions[at]!, 1, attacker))];
  },
  'the rent handed over too': ({ parts }) => {
    const at = deliveryAt(parts);
    return at < 0 ? undefined : ['RENT_EXCEEDS', withAmount(parts, at, 1, -1n)];
  },
  'the rent moved in a circle': ({ parts }) => {
    const at = deliveryAt(parts);
    const delivery = parts.instructions[at];
    return delivery === undefined ? undefined
      : ['TRANSFER_DESTINATION', replaced(parts, at, withAccount(delivery, 2, delivery.accounts[0]!.pubkey))];
  },
  'a temporary account not closed': ({ parts }) => {
    const at = deliveryAt(parts);
    return at < 0 ? undefined
      : ['ACCOUNT_UNFINISHED', { ...parts, instructions: parts.instructions.filter((_, index) => index !== at + 2) }];
  },
  'a temporary account of another': ({ parts, attacker }) => {
    const at = parts.instructions.findIndex(({ programId, data }) => programId === TOKEN_PROGRAM && data[0] === 18);
    if (at < 0) return undefined;
    return [
      'AUTHORITY_FORBIDDEN',
      replaced(parts, at, { ...parts.instructions[at]!, data: Buffer.concat([Buffer.of(18), key(attacker)]) }),
    ];
  },
  'more rent paid back than was lent': ({ parts, wallet }) => {
    const at = parts.instructions.findIndex(({ programId, data, accounts }) => programId === SYSTEM_PROGRAM
      && data[0] === 2 && accounts[0]!.pubkey === wallet && accounts[1]!.pubkey === parts.payer);
    return at < 0 ? undefined : ['TRANSFER_EXCEEDS', withAmount(parts, at, 4, 1n)];
  },
  'the output’s account at another’s': ({ parts, attacker, output, golden, wallet }) => {
    const at = parts.instructions.findIndex(({ programId, accounts }) =>
      programId === ASSOCIATED_TOKEN_PROGRAM && accounts[3]!.pubkey === output.mint && accounts[0]!.pubkey === wallet);
    if (at < 0 || golden.expectation.receiver === attacker) return undefined;
    return ['ATA_OWNER', replaced(parts, at, openAssociated({
      payer: wallet, account: associatedTokenAddress(attacker, output.mint, output.program), owner: attacker,
      mint: output.mint, tokenProgram: output.program }))];
  },
};

/** Where a temporary account gives its rent to another one. */
function deliveryAt({ instructions }: Parts): number {
  return instructions.findIndex((candidate, index) =>
    candidate.data[0] === TAG.transferChecked && candidate.accounts[1]?.pubkey === NATIVE_MINT
      && instructions[index + 1]?.data[0] === TAG.close && instructions[index + 2]?.data[0] === TAG.close
      && instructions[index - 1]?.programId === SWAP_PROGRAM_ID);
}

function swapChanged(
  { parts }: Victim, code: PolicyCode, change: (swap: Instruction) => Instruction,
): readonly [PolicyCode, Parts] | undefined {
  const at = parts.instructions.findIndex(isSwap);
  const swap = parts.instructions[at];
  if (swap === undefined || (code === 'SWAP_MINIMUM_BELOW' && Buffer.from(swap.data).readBigUInt64LE(16) === 0n))
    return undefined;
  return [code, replaced(parts, at, change(swap))];
}

function makerPaid(
  { parts, golden, wallet }: Victim, code: PolicyCode, change: (paid: Instruction) => Instruction,
): readonly [PolicyCode, Parts] | undefined {
  const at = golden.expectation.maker === undefined ? -1
    : parts.instructions.findIndex((candidate) => isTransferBy(candidate, wallet));
  return at < 0 ? undefined : [code, replaced(parts, at, change(parts.instructions[at]!))];
}

/** The maker pays the output as tokens, or as SOL. */
function makerPays(
  { parts, golden }: Victim, code: PolicyCode, change: (pays: Instruction, amountOffset: number) => Instruction,
): readonly [PolicyCode, Parts] | undefined {
  const { maker } = golden.expectation;
  if (maker === undefined) return undefined;
  const at = parts.instructions.findIndex((candidate) => isTransferBy(candidate, maker)
    || (candidate.programId === SYSTEM_PROGRAM && candidate.data[0] === 2 && candidate.accounts[0]!.pubkey === maker));
  return [
    code,
    replaced(parts, at, change(parts.instructions[at]!, parts.instructions[at]!.programId === SYSTEM_PROGRAM ? 4 : 1)),
  ];
}

function unitPrice({ instructions }: Parts): bigint {
  const price = instructions.find(({ programId, data }) => programId === COMPUTE_BUDGET_PROGRAM && data[0] === 3);
  return price === undefined ? 0n : Buffer.from(price.data).readBigUInt64LE(1);
}

function raisedPrice({ parts, wallet }: Victim, price: bigint): readonly [PolicyCode, Parts] | undefined {
  if (parts.config !== undefined && parts.payer === wallet)
    return ['FEE_EXCEEDS', { ...parts, config: { ...parts.config, priorityFeeLamports: price } }];
  const at = parts.instructions.findIndex(({ programId, data }) =>
    programId === COMPUTE_BUDGET_PROGRAM && data[0] === 3);
  return at < 0 || parts.payer !== wallet ? undefined : ['FEE_EXCEEDS', replaced(parts, at, budget(3, u64(price)))];
}

function appended(parts: Parts, instruction: Instruction): Parts {
  return { ...parts, instructions: [...parts.instructions, instruction] };
}

function replaced(parts: Parts, at: number, instruction: Instruction): Parts {
  return { ...parts, instructions: parts.instructions.with(at, instruction) };
}

function withAccount(instruction: Instruction, place: number, pubkey: string, signs = false): Instruction {
  const { isWritable } = instruction.accounts[place]!;
  return { ...instruction, accounts: instruction.accounts.with(place, { pubkey, isSigner: signs, isWritable }) };
}

function withAmount(parts: Parts, at: number, offset: number, difference: bigint): Parts {
  return replaced(parts, at, added(parts.instructions[at]!, offset, difference));
}

function added(instruction: Instruction, offset: number, difference: bigint): Instruction {
  const data = Buffer.from(instruction.data);
  data.writeBigUInt64LE(data.readBigUInt64LE(offset) + difference, offset);
  return { ...instruction, data };
}

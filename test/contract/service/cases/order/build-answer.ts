import { ComputeBudgetProgram } from '@solana/web3.js';
import bs58 from 'bs58';
import { expect } from 'vitest';
import type { Case } from '../../case.ts';
import { fieldCases } from '../../case.ts';
import { compose, sent } from '../../compose.ts';
import { ADDRESS, asked, buildOf, DIGITS } from '../../scenes.ts';
import type { Answer, ServiceFixture } from '../../service-fixture.ts';
import { SOL, USDC } from '../../service-fixture.ts';

type Body = Answer['body'];

const SALE = { inputMint: SOL, outputMint: USDC, amount: '100000000' } as const;

async function load(fixture: ServiceFixture) {
  const taker = await fixture.newWallet({ [SOL]: '1000000000' });
  const build = await buildOf(fixture, { ...SALE, taker: taker.address, slippageBps: 80 });
  const read = await fixture.service.swap.build({ ...asked(SALE), taker: taker.address, slippageBps: 80 });
  const { blockHeight } = fixture.sandbox.chain;
  const table =
    await fixture.rpc('getAccountInfo', [Object.keys(build.addressesByLookupTableAddress)[0], { encoding: 'base64' }]);
  const error = await sent(fixture, compose(build, taker.address), taker);
  return {
    build, read, taker, error, blockHeight, table: Buffer.from(table.result.value.data[0], 'base64'),
    received: fixture.held(taker.address, USDC),
  };
}

const all = (build: Body): Body[] => [
  ...build.computeBudgetInstructions, ...build.setupInstructions, build.swapInstruction,
  ...(build.cleanupInstruction === null ? [] : [build.cleanupInstruction]), ...build.otherInstructions,
];
/** Before a lookup table's addresses. */
const TABLE_HEADER_BYTES = 56;

export const buildAnswerCases: readonly Case[] = fieldCases({ prefix: 'build-answer', load }, {
  inputMint: ['the mint asked for', ({ build, read }) => expect([build.inputMint, read.inputMint]).toEqual([SOL, SOL])],
  outputMint: [
    'the mint asked for', ({ build, read }) => expect([build.outputMint, read.outputMint]).toEqual([USDC, USDC]),
  ],
  inAmount: ['the amount asked for, as digits', ({ build, read }) => {
    expect(build.inAmount).toBe('100000000');
    expect(read.inAmount).toBe(100_000_000n);
  }],
  outAmount: ['what the taker has once the composed transaction landed', ({ build, read, received, error }) => {
    expect(error).toBeNull();
    expect(build.outAmount).toMatch(DIGITS);
    expect(received).toBe(BigInt(build.outAmount));
    expect(read.outAmount).toBe(BigInt(build.outAmount));
  }],
  otherAmountThreshold: ['the output less the slippage, floored', ({ build, read }) => {
    const threshold = (BigInt(build.outAmount) * 9_920n) / 10_000n;
    expect(build.otherAmountThreshold).toBe(threshold.toString());
    expect(read.threshold).toBe(threshold);
  }],
  swapMode: ['ExactIn', ({ build, read }) => expect([build.swapMode, read.swapMode]).toEqual(['ExactIn', 'ExactIn'])],
  slippageBps: ['the slippage asked for, a number', ({ build, read }) =>
    expect([build.slippageBps, read.slippageBps]).toEqual([80, 80])],
  routePlan: ['the hops from the input to the output', ({ build, read }) => {
    expect(build.routePlan[0].swapInfo).toMatchObject({ inputMint: SOL, inAmount: '100000000' });
    expect(build.routePlan.at(-1).swapInfo.outputMint).toBe(USDC);
    expect(read.routePlan).toHaveLength(build.routePlan.length);
  }],
  computeBudgetInstructions: ['one instruction that sets the price of a compute unit', ({ build, read }) => {
    expect(build.computeBudgetInstructions).toHaveLength(1);
    const [{ programId, data }] = build.computeBudgetInstructions;
    expect(programId).toBe(ComputeBudgetProgram.programId.toBase58());
    const bytes = Buffer.from(data, 'base64');
    expect([bytes.length, bytes[0]]).toEqual([9, 3]);
    expect(bytes.readBigUInt64LE(1)).toBeGreaterThan(0n);
    expect(read.computeBudgetInstructions).toHaveLength(1);
  }],
  'no-compute-unit-limit': ['a compute unit limit is in none of the instructions', ({ build }) => {
    const budget = all(build).filter(({ programId }) => programId === ComputeBudgetProgram.programId.toBase58());
    expect(budget.map(({ data }) => Buffer.from(data, 'base64')[0])).toEqual([3]);
  }],
  setupInstructions: ['the accounts that the swap needs, made beforehand', ({ build, read }) => {
    expect(build.setupInstructions.length).toBeGreaterThan(0);
    expect(build.setupInstructions.map(({ programId }: Body) => programId))
      .toContain('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
    expect(read.setupInstructions).toHaveLength(build.setupInstructions.length);
  }],
  swapInstruction: ['one instruction that names the taker as signer', ({ build, read, taker }) => {
    expect(build.swapInstruction.accounts)
      .toContainEqual({ pubkey: taker.address, isSigner: true, isWritable: expect.any(Boolean) });
    expect(read.swapInstruction.programId).toBe(build.swapInstruction.programId);
    expect(read.swapInstruction.data).toEqual(new Uint8Array(Buffer.from(build.swapInstruction.data, 'base64')));
  }],
  cleanupInstruction: ['closes the account of wrapped SOL that the swap needed', ({ build, read, taker }) => {
    expect(build.cleanupInstruction.programId).toBe('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
    // 9 is the token program's CloseAccount.
    expect(Buffer.from(build.cleanupInstruction.data, 'base64')).toEqual(Buffer.from([9]));
    expect(build.cleanupInstruction.accounts.map(({ pubkey }: Body) => pubkey)).toContain(taker.address);
    expect(read.cleanupInstruction?.programId).toBe(build.cleanupInstruction.programId);
  }],
  otherInstructions: ['a list, empty where there is nothing else', ({ build, read }) => {
    expect(build.otherInstructions).toEqual([]);
    expect(read.otherInstructions).toEqual([]);
  }],
  addressesByLookupTableAddress: ['what each table holds on the chain', ({ build, read, table }) => {
    const [[, addresses]] = Object.entries<string[]>(build.addressesByLookupTableAddress) as [[string, string[]]];
    expect(Buffer.from(bs58.decode(addresses[0]!)))
      .toEqual(table.subarray(TABLE_HEADER_BYTES, TABLE_HEADER_BYTES + 32));
    expect(addresses).toHaveLength((table.length - TABLE_HEADER_BYTES) / 32);
    expect(read.lookupTables).toEqual(build.addressesByLookupTableAddress);
  }],
  'tables-need-no-fetch': [
    'a v0 transaction was compiled from the answer alone, and landed', ({ error }) => expect(error).toBeNull(),
  ],
  blockhashWithMetadata: ['a blockhash and its last height', ({ build, error }) => {
    expect(Object.keys(build.blockhashWithMetadata))
      .toEqual(expect.arrayContaining(['blockhash', 'lastValidBlockHeight']));
    expect(error).toBeNull();
  }],
  'blockhashWithMetadata.blockhash': ['32 byte values', ({ build, read }) => {
    expect(build.blockhashWithMetadata.blockhash).toHaveLength(32);
    for (const byte of build.blockhashWithMetadata.blockhash) expect(byte).toBe(byte & 255);
    expect(read.blockhash).toMatch(ADDRESS);
  }],
  'blockhashWithMetadata.lastValidBlockHeight': ['a number, some 150 blocks ahead', ({ build, read, blockHeight }) => {
    const left = build.blockhashWithMetadata.lastValidBlockHeight - blockHeight;
    expect(left).toBeGreaterThan(140);
    expect(left).toBeLessThanOrEqual(151);
    expect(read.lastValidBlockHeight).toBe(BigInt(build.blockhashWithMetadata.lastValidBlockHeight));
  }],
  'instruction.programId': ['an address in each instruction', ({ build }) => {
    for (const { programId } of all(build)) expect(programId).toMatch(ADDRESS);
  }],
  'instruction.accounts': ['a list in each instruction, as our client has it', ({ build, read }) => {
    for (const { accounts } of all(build)) expect(Array.isArray(accounts)).toBe(true);
    expect(read.swapInstruction.accounts).toEqual(build.swapInstruction.accounts);
  }],
  'instruction.accounts.pubkey': ['an address', ({ build }) => {
    for (const { pubkey } of all(build).flatMap(({ accounts }) => accounts)) expect(pubkey).toMatch(ADDRESS);
  }],
  'instruction.accounts.isWritable': ['a boolean, true for some and false for others', ({ build }) => {
    expect(new Set(all(build).flatMap(({ accounts }) => accounts.map(({ isWritable }: Body) => isWritable))))
      .toEqual(new Set([true, false]));
  }],
  'instruction.accounts.isSigner': ['a boolean, true for the taker alone', ({ build, taker }) => {
    const signers = all(build)
      .flatMap(({ accounts }) => accounts.filter(({ isSigner }: Body) => isSigner).map(({ pubkey }: Body) => pubkey));
    expect(new Set(signers)).toEqual(new Set([taker.address]));
  }],
  'instruction.data': ['base64', ({ build }) => {
    for (const { data } of all(build)) expect(Buffer.from(data, 'base64').toString('base64')).toBe(data);
  }],
  'no-fee-events': ['the output is read from balances: no program logs or returns a fee', ({ received, build }) => {
    expect(received).toBe(BigInt(build.outAmount));
    expect(Object.keys(build)).not.toContain('feeEvents');
  }],
});

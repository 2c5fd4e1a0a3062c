import { Message, VersionedMessage } from '@solana/web3.js';
import { expect, test } from 'vitest';
import { isGannetError } from '../../../src/core/errors.ts';
import { MEMO_PROGRAM } from '../../../src/sandbox/chain/addresses.ts';
import { compileMessage, lookupTable } from '../../../src/sandbox/chain/message.ts';
import { addressNamed } from './market-fixture.ts';

const PAYER = addressNamed('payer');

function partsWith(dataBytes: number, tableOf: readonly string[] | undefined): Parameters<typeof compileMessage>[0] {
  const accounts = ['a', 'b', 'c'].map((name) =>
    ({ pubkey: addressNamed(name), isSigner: name === 'c', isWritable: name === 'a' }));
  return {
    payer: PAYER, blockhash: addressNamed('blockhash'),
    instructions: [{ programId: MEMO_PROGRAM, accounts, data: Buffer.alloc(dataBytes, 1) }],
    table: tableOf === undefined ? undefined : lookupTable(addressNamed('table'), tableOf),
  };
}

test('a message names its signers and counts its accounts, those of a table included', () => {
  const inMessage = compileMessage(partsWith(10, undefined));
  expect(inMessage).toMatchObject({ signers: [PAYER, addressNamed('c')], accounts: 5 });
  expect(VersionedMessage.deserialize(inMessage.bytes)).toBeInstanceOf(Message);
  const inTable = compileMessage(partsWith(10, ['a', 'x', 'b', 'c'].map(addressNamed)));
  expect(inTable).toMatchObject({ signers: [PAYER, addressNamed('c')], accounts: 5 });
  expect(VersionedMessage.deserialize(inTable.bytes).addressTableLookups)
    .toMatchObject([{ writableIndexes: [0], readonlyIndexes: [2] }]);
});

test('a message that outgrows a packet is an error with a code', () => {
  expect(compileMessage(partsWith(900, [])).bytes.length).toBeGreaterThan(1_000);
  for (const tableOf of [[], undefined]) {
    let found: unknown;
    try {
      compileMessage(partsWith(1_400, tableOf));
    } catch (error) {
      found = error;
    }
    expect(isGannetError(found) && found.code).toBe('CHAIN_TRANSACTION_INVALID');
  }
});

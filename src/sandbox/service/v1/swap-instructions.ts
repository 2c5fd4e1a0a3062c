import type { FastifyInstance } from 'fastify';
import bs58 from 'bs58';
import type { ServiceContext } from '../context.ts';
import { toWire } from '../instructions.ts';
import { assemble, type Assembly } from './assembly.ts';
import { parseSwapRequest } from './swap-request.ts';
import { reportOf, transactionFacts } from './swap-facts.ts';
import { swapTransaction } from './swap-transaction.ts';

/** Serves `POST /swap/v1/swap-instructions`: what the transaction of a quote would be made of. */
export function registerV1SwapInstructions(app: FastifyInstance, context: ServiceContext): void {
  app.post('/swap/v1/swap-instructions', (request, reply) => {
    const wanted = parseSwapRequest(request.body, context.quotes);
    const assembly = assemble(context, wanted);
    const transaction = swapTransaction(context, wanted, assembly);
    const { setup, swap, cleanup } = assembly.parts;
    const [first, ...rest] = cleanup;
    const { tip, instructions } = transaction.budget;
    const tables = wanted.quoted.request.asLegacyTransaction ? [] : [context.table];
    return reply.send({
      tokenLedgerInstruction: null,
      computeBudgetInstructions: instructions.map(toWire),
      setupInstructions: setup.map(toWire),
      swapInstruction: toWire(swap),
      cleanupInstruction: first === undefined ? null : toWire(first),
      otherInstructions: [...rest, ...(tip === undefined ? [] : [tip])].map(toWire),
      addressLookupTableAddresses: tables.map(({ address }) => address),
      ...(context.profile === 'live' ? {
        ...transactionFacts(context, wanted, transaction),
        ...reportOf(assembly.slippageReport, context.profile),
        addressesByLookupTableAddress: Object.fromEntries(tables.map(({ address, addresses }) => [address, addresses])),
        blockhashWithMetadata: blockhashOf(assembly),
      } : {}),
    });
  });
}

function blockhashOf({ blockhash: { blockhash, lastValidBlockHeight } }: Assembly): object {
  return { blockhash: [...bs58.decode(blockhash)], lastValidBlockHeight };
}

import bs58 from 'bs58';
import type { FastifyInstance } from 'fastify';
import { exactNumber } from '../../json-text.ts';
import { toWire } from '../build/instructions.ts';
import type { Profile, ServiceContext } from '../context.ts';
import type { Assembly } from './assembly.ts';
import { assemble } from './assembly.ts';
import type { SlippageReport } from './carry-out.ts';
import type { SwapRequest } from './swap-request.ts';
import { parseSwapRequest } from './swap-request.ts';
import type { SwapTransaction } from './swap-transaction.ts';
import { swapTransaction } from './swap-transaction.ts';

/** Serves `POST /swap/v1/swap`: the transaction of a returned quote. */
export function registerV1Swap(app: FastifyInstance, context: ServiceContext): void {
  app.post('/swap/v1/swap', (request, reply) => {
    const wanted = parseSwapRequest(request.body, context.quotes);
    const assembly = assemble(context, wanted);
    const transaction = swapTransaction(context, wanted, assembly);
    return reply.send({
      swapTransaction: transaction.bytes.toString('base64'),
      lastValidBlockHeight: assembly.blockhash.lastValidBlockHeight,
      ...transactionFacts(context, wanted, transaction),
      ...reportOf(assembly.slippageReport, context.profile),
    });
  });
}

/** Serves `POST /swap/v1/swap-instructions`: the instructions of a quote's transaction. */
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

/** Returns the members beside the transaction; the live service explains its priority fee. */
function transactionFacts(
  { chain, profile }: ServiceContext, { priority }: SwapRequest, transaction: SwapTransaction,
): object {
  const { budget, simulationError } = transaction;
  const prioritizationType = priority.kind === 'tip'
    ? { bundleTip: { lamports: exactNumber(priority.lamports) } }
    : { computeBudget: {
      microLamports: exactNumber(budget.unitPrice), estimatedMicroLamports: exactNumber(budget.unitPrice),
    } };
  return {
    prioritizationFeeLamports: exactNumber(budget.prioritizationFeeLamports),
    ...(profile === 'live'
      ? { computeUnitLimit: budget.unitLimit, prioritizationType, simulationSlot: chain.slotAt('processed') } : {}),
    simulationError,
  };
}

/** Returns the report of an estimated slippage; live, it is null where none was asked for. */
function reportOf(report: SlippageReport | undefined, profile: Profile): object {
  if (report === undefined) return profile === 'live' ? { dynamicSlippageReport: null } : {};
  return { dynamicSlippageReport: { ...report, otherAmount: exactNumber(report.otherAmount) } };
}

import type { FastifyInstance } from 'fastify';
import type { ServiceContext } from '../context.ts';
import { assemble } from './assembly.ts';
import { parseSwapRequest } from './swap-request.ts';
import { reportOf, transactionFacts } from './swap-facts.ts';
import { swapTransaction } from './swap-transaction.ts';

/** Serves `POST /swap/v1/swap`: the transaction of a quote that comes back. */
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

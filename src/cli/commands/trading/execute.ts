import { join } from 'node:path';
import type { CommandModule } from '../../command.ts';
import { example } from '../../command.ts';
import type { ExitCode } from '../../exit-codes.ts';
import { EXIT } from '../../exit-codes.ts';
import { wholeNumber } from '../../input/flags.ts';
import { NO_TOKENS, serviceRequest, type ServiceRequest } from '../../input/service-request.ts';
import { readTransactionInput } from '../../input/transaction-input.ts';
import { facts } from '../../output/table.ts';
import { GannetError } from '../../../core/errors.ts';
import { printable } from '../../../core/text.ts';
import { systemClock } from '../../../daemon/watch/system-clock.ts';
import { landOrder } from '../../../execution/land-order.ts';
import { EXECUTED_ORDERS_FILE, openExecutedOrders } from '../../../store/executed-orders.ts';
import { LIVE_FLAG } from './run.ts';

interface Flags {
  readonly live?: boolean;
  readonly lastValidBlockHeight?: number;
}


export const executeCommand: CommandModule = (program, run) => {
  program.command('execute <request-id> [base64]')
    .description('lands an order that was signed elsewhere, and follows it to its end (default: the transaction is '
      + 'read from standard input)')
    .addHelpText('after', example('gannet execute 0b7c… --live < signed-order.txt'))
    .option('--last-valid-block-height <height>', 'of the order’s answer (default: a later one is assumed)',
      wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option(...LIVE_FLAG)
    .action(run(serviceRequest(execute, NO_TOKENS)));
};

async function execute(
  { terminal, options, loaded: { config }, connections, interrupt }: ServiceRequest,
  requestId: string, base64: string | undefined, { live = false, lastValidBlockHeight }: Flags,
): Promise<ExitCode> {
  if (config.service.baseUrl !== 'embedded' && !live) {
    throw new GannetError('LIVE_REFUSED', 'a signed order moves real money: add --live to land it');
  }
  if (connections.chain === undefined)
    throw new GannetError('CONFIG_INVALID', 'what became of an order is read from the chain: give chain.rpc_url');
  const signedTransaction = await readTransactionInput(base64);
  const orders = openExecutedOrders({ path: join(options.stateDir, EXECUTED_ORDERS_FILE), clock: systemClock });
  try {
    const end = await landOrder(
      { service: connections.service.swap, chain: connections.chain, orders, clock: systemClock },
      {
        requestId, signedTransaction,
        lastValidBlockHeight: lastValidBlockHeight === undefined ? undefined : BigInt(lastValidBlockHeight),
      },
      {
        isCancelled: () => interrupt.aborted,
        onFault: ({ message }) => { terminal.err(`${printable(message, 300)}\n`); },
      },
    );
    const { state = 'unknown', signature, code, message } = end ?? {};
    const advice = end === undefined
      ? 'it may still land: the same command follows it further, and sends no other bytes' : message;
    terminal.result(
      { state, signature: signature ?? null, code: code ?? null, message: advice ?? null },
      () => facts([
        ['order', state], ['transaction', signature],
        ['why', advice === undefined ? undefined : `${code === undefined ? '' : `${code}: `}${printable(advice, 400)}`],
      ]),
    );
    return end === undefined ? EXIT.interrupted : end.state === 'landed' ? EXIT.done : EXIT.failed;
  } finally {
    orders.close();
  }
}

import { z } from 'zod';
import { address } from './schema-fields.ts';

const cap = z.strictObject({
  per_trade: z.string().optional()
    .meta({ description: 'The most that one swap may spend, in whole tokens.', examples: ['200'] }),
  per_hour: z.string().optional().meta({ description: 'The most of any hour.', examples: ['1000'] }),
  per_day: z.string().optional().meta({ description: 'The most of any day.', examples: ['3000'] }),
});

/** The section "signer": what its process may sign beyond what it knows by itself, and how much. */
export const signerSchema = z.strictObject({
  programs: z.array(address()).default([])
    .meta({ description: 'Programs that may be called beside those known to everybody; without a reader of their own, '
      + 'only after a simulation.' }),
  destinations: z.array(address()).default([])
    .meta({ description: 'Accounts that may receive tokens beside the wallet’s own.' }),
  caps: z.record(z.string(), cap).default({})
    .meta({ description: 'What may be spent of each token, by its alias: { USDC: { per_trade: "200", per_hour: "1000", '
      + 'per_day: "3000" } }. On a real service, what has no cap is not spent.' }),
}).meta({
  description: 'What may be signed, whatever the rest of Gannet asks for: the process with the key keeps these itself.',
});

import { z } from 'zod';
import { cutText, optional, optionalText, wireInstant, wireNumber, wireText } from './fields.ts';

// Decoration must not make a record unreadable: what is absent, null or of the wrong form is not known.

/** Text of at most 200 characters, undefined where there is none. Not safe to print as it is. */
export const lenientText = optionalText(wireText).catch(undefined);

/** Text of at most 4,000 characters: rules, addresses of pictures, what people write. Not safe to print as it is. */
export const lenientProse = optionalText(z.string().transform((text) => cutText(text, 4_000))).catch(undefined);

export const lenientFlag = optional(z.boolean()).catch(undefined);

/** A finite number, also as its text. */
export const lenientNumber = optional(wireNumber).catch(undefined);

/** An instant as seconds, milliseconds or ISO 8601; 0 is none. */
export const lenientInstant = optional(wireInstant).catch(undefined);

/** At most 100 texts; one of the wrong form is left out. */
export const lenientTexts = z.array(z.unknown()).nullish().catch(undefined)
  .transform((list): readonly string[] =>
    (list ?? []).filter((text) => typeof text === 'string').slice(0, 100).map((text) => cutText(text, 200)));

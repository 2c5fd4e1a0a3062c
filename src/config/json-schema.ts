import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { configSchema } from './schema.ts';

/** Returns the JSON schema (draft 7) of a configuration file, as editors want it. */
export function configJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(configSchema, { io: 'input', target: 'draft-07' });
}

/** Returns the text of `config/gannet.schema.json`. */
export function configJsonSchemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}

/** Writes the JSON schema to a file. */
export async function writeConfigJsonSchema(file: string): Promise<void> {
  await writeFile(file, configJsonSchemaText());
}

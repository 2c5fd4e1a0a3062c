import { fileURLToPath } from 'node:url';

/** The checkout: where `strategies/` and `config/` are. */
export const PROJECT_DIR = fileURLToPath(new URL('../..', import.meta.url));

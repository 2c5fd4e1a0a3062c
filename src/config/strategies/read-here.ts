import { askStrategy, importModule } from './ask-strategy.ts';
import type { StrategyReader } from './strategy-reader.ts';

/**
 * Loads strategies into this process: for processes that hold no key and no token, and for the project's own code
 * where the configuration turns isolation off.
 */
export const readHere: StrategyReader = {
  load({ file }) {
    const module = importModule(file);
    return { read: async (question) => askStrategy(await module, question) };
  },
};

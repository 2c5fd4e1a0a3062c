import { askStrategy, importModule } from '../../config/strategies/ask-strategy.ts';
import type { StrategyReader } from '../../config/strategies/strategy-reader.ts';
import { whileLoading } from '../../research/box/phases.ts';

/** Loads strategies into this process, and says so to the one that started it, which stops them where they loop. */
export const readBoxed: StrategyReader = {
  load({ use, file }) {
    const module = whileLoading([{ name: use, use: file }], () => importModule(file));
    return {
      read: async (question) => {
        const imported = await module;
        return whileLoading([{ name: question.name ?? use, use: file }], () => askStrategy(imported, question));
      },
    };
  },
};

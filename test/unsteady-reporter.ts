import type { Reporter, TestCase } from 'vitest/node';

/** Names the tests that failed at first and passed when they were tried again: the gate lets them pass, and somebody has to mend them. */
export default class UnsteadyReporter implements Reporter {
  readonly #unsteady: TestCase[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true) this.#unsteady.push(test);
  }

  onTestRunEnd(): void {
    for (const { fullName, module } of this.#unsteady) process.stdout.write(`unsteady: ${module.relativeModuleId}: ${fullName}\n`);
  }
}

import type { Profile } from '../../../src/sandbox/service/context.ts';
import type { ServiceFixture } from './service-fixture.ts';

/** One rule of the service's description, played through. */
export interface Case {
  /** Ids of the rows it proves. */
  readonly covers: readonly string[];
  /** A sentence that is true when it passes. */
  readonly says: string;
  /** What the sandbox keeps to; the description unless the case is about the live service. */
  readonly profile?: Profile;
  play(fixture: ServiceFixture): Promise<void>;
}

/** What is expected of one field: a sentence, and how it is seen. */
export type FieldCheck<Scene> = readonly [says: string, check: (scene: Scene) => void];

/**
 * Returns one case for each field of a scene that is checked once in every fixture: a field is proved by its own check,
 * and the requests are made only once. `covers` of a field is `<prefix>.<field>`.
 */
export function fieldCases<Scene>(
  options: {
    readonly prefix: string; readonly profile?: Profile; readonly load: (fixture: ServiceFixture) => Promise<Scene>;
  },
  checks: Readonly<Record<string, FieldCheck<Scene>>>,
): readonly Case[] {
  const { prefix, profile, load } = options;
  const scenes = new WeakMap<ServiceFixture, Promise<Scene>>();
  return Object.entries(checks).map(([name, [says, check]]) => ({
    covers: [`${prefix}.${name}`],
    says: `${prefix}.${name}: ${says}`,
    ...(profile === undefined ? {} : { profile }),
    async play(fixture) {
      const scene = scenes.get(fixture) ?? load(fixture);
      scenes.set(fixture, scene);
      check(await scene);
    },
  }));
}

/** Takes the name of a function and its arguments, and returns those that it gets instead. */
export type Arrived = (name: string, args: unknown[]) => unknown[];

const CLASS_OR_HELPER = /^(?:[A-Z_]|toUnixTimestamp)/;

/** How what was trapped says that there is nothing. */
interface TrapStyle {
  /** Whether it returns promises: then it throws nothing. */
  readonly promises?: boolean | undefined;
}

/** Lets `arrived` see the arguments of all functions of a module first; what it throws, the caller gets. */
export function trapFunctions(module: object, arrived: Arrived, style?: TrapStyle): void {
  for (const name of Object.keys(module)) if (!CLASS_OR_HELPER.test(name)) trapFunction(module, name, arrived, style);
}

/** Does the same for one member, where it is a function. */
export function trapFunction(owner: object, name: string, arrived: Arrived, { promises = false }: TrapStyle = {}): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') return;
  // What hangs on a function, such as realpathSync.native, stays on it.
  Reflect.set(owner, name, new Proxy(original, {
    apply: (target, self, args: unknown[]): unknown => {
      try {
        return Reflect.apply(target, self, arrived(name, args));
      } catch (error) {
        if (name === 'existsSync') return false;
        if (promises) return Promise.reject(error);
        throw error;
      }
    },
  }));
}

/** Does the same for a class, whenever one is made. */
export function trapClass(owner: object, name: string, arrived: Arrived): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') return;
  Reflect.set(owner, name, new Proxy(original, {
    construct: (target, args: unknown[], newTarget): object => Reflect.construct(target, arrived(name, args), newTarget) as object,
  }));
}

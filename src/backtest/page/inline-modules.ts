import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { assert } from '../../core/assert.ts';

const IMPORT = /^import\s*\{([^}]*)\}\s*from\s*'(\.[^']+)';?$/gm;
const EXPORT = /^export\s+(?=(?:async\s+)?function\s+(\w+)|const\s+(\w+)|class\s+(\w+))/gm;
const LEFT_OVER = /^\s*(?:import|export)\b.*$/m;

/**
 * Returns one script that holds a module and all that it imports, each module in a function of its own so that equal names
 * stay apart, and hands the exports of the first to `run`, a piece of script with `entry` for them. Types are taken out; what runs is what
 * runs here. It reads imports of names from relative files and exports of declarations, and refuses anything else.
 */
export function inlineModules(entry: URL, run: string): string {
  const order: URL[] = [];
  const parts: string[] = [];
  const add = (file: URL): number => {
    const known = order.findIndex(({ href }) => href === file.href);
    if (known >= 0) return known;
    const source = readFileSync(file, 'utf8');
    const code = file.pathname.endsWith('.ts') ? stripTypeScriptTypes(source) : source;
    const exported: string[] = [];
    const body = code
      .replace(IMPORT, (_, names: string, specifier: string) => {
        const from = add(new URL(specifier, file));
        const taken = names.split(',').map((name) => name.trim()).filter((name) => name !== '').map((name) => name.replace(/\s+as\s+/, ': '));
        return taken.length === 0 ? '' : `const { ${taken.join(', ')} } = m${from};`;
      })
      .replace(EXPORT, (_, ...names: (string | undefined)[]) => {
        exported.push(names.slice(0, 3).find((name) => name !== undefined)!);
        return '';
      });
    const strange = LEFT_OVER.exec(body);
    assert(strange === null, () => `${file.pathname} cannot go into a page: ${strange![0].trim()}`);
    order.push(file);
    parts.push(`const m${order.length - 1} = (() => {\n${tidy(body)}\nreturn { ${exported.join(', ')} };\n})();`);
    return order.length - 1;
  };
  const first = add(entry);
  const script = `'use strict';\n${parts.join('\n')}\n{\nconst entry = m${first};\n${run}\n}\n`;
  assert(!/<\/script|<!--/i.test(script), 'a script in a page may not hold what ends one');
  return script;
}

/** Comments of whole lines and blanks are a third of it, and nobody reads them there. */
function tidy(code: string): string {
  return code.replace(/^\s*\/\*\*[\s\S]*?\*\/\s*$/gm, '').replace(/^\s*\/\/.*$/gm, '').replace(/[ \t]+$/gm, '').replace(/\n{2,}/g, '\n').trim();
}

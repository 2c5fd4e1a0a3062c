import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { assert } from '../core/assert.ts';

const IMPORT = /^import\s*\{([^}]*)\}\s*from\s*'(\.[^']+)';?$/gm;
const EXPORT = /^export\s+(?=(?:async\s+)?function\s+(\w+)|const\s+(\w+)|class\s+(\w+))/gm;
/** What a file of a build ends with. */
const EXPORTS = /^export \{([\w$, ]+)\};$/gm;
const LEFT_OVER = /^\s*(?:import|export)\b.*$/m;

/**
 * Returns one script with a module and all its imports. Each module is in a function of its own, so that equal names do
 * not conflict. `run` is a piece of script that finds the exports of the first module in `entry`. Only types are
 * removed, so the page runs the same code as the tool. It supports imports of names from relative files and exports of
 * declarations, and refuses anything else.
 */
export function inlineModules(entry: string, run: string): string {
  const order: string[] = [];
  const parts: string[] = [];
  const add = (file: string): number => {
    const known = order.indexOf(file);
    if (known >= 0) return known;
    const source = readFileSync(file, 'utf8');
    const code = file.endsWith('.ts') ? stripTypeScriptTypes(source) : source;
    const exported: string[] = [];
    const body = code
      .replace(IMPORT, (_, names: string, specifier: string) => {
        const from = add(join(dirname(file), specifier));
        const taken = names.split(',').map((name) => name.trim()).filter((name) => name !== '')
          .map((name) => name.replace(/\s+as\s+/, ': '));
        return taken.length === 0 ? '' : `const { ${taken.join(', ')} } = m${from};`;
      })
      .replace(EXPORTS, (_, names: string) => {
        exported.push(...names.split(',').map((name) => name.trim()));
        return '';
      })
      .replace(EXPORT, (_, ...names: (string | undefined)[]) => {
        exported.push(names.slice(0, 3).find((name) => name !== undefined)!);
        return '';
      });
    const strange = LEFT_OVER.exec(body);
    assert(strange === null, () => `${file} cannot be inlined into a page: ${strange![0].trim()}`);
    order.push(file);
    parts.push(`const m${order.length - 1} = (() => {\n${tidy(body)}\nreturn { ${exported.join(', ')} };\n})();`);
    return order.length - 1;
  };
  const first = add(entry);
  const script = `'use strict';\n${parts.join('\n')}\n{\nconst entry = m${first};\n${run}\n}\n`;
  assert(!/<\/script|<!--/i.test(script), 'a script in a page may not contain text that ends the script');
  return script;
}

/** Removes comment lines and blank lines, a third of the source. */
function tidy(code: string): string {
  return code.replace(/^\s*\/\*\*[\s\S]*?\*\/\s*$/gm, '').replace(/^\s*\/\/.*$/gm, '').replace(/[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n').trim();
}

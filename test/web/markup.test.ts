import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { markup } from '../../src/web/markup.ts';

const HOSTILE = `</script><script>alert(1)</script><!-- " ' & \u202e \u0000`;

it('a template escapes text and keeps markup', () => {
  const nested = [markup`<b>${'a<b'}</b>`, [1, markup`<i>2</i>`], false, undefined, null] as const;
  const escaped = '&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!-- &quot; &#39; &amp; \\u202e \\u0000';
  expect(markup`<p title="${HOSTILE}">${nested}</p>`.markup)
    .toBe(`<p title="${escaped}"><b>a&lt;b</b>1<i>2</i></p>`);
});

it('no text can open an element, end an attribute or start an entity', () => {
  fc.assert(fc.property(fc.string({
    unit: fc.constantFrom('<', '>', '&', '"', "'", '/', 'a', ';', '#', '\u202e', '\n', '-', '!'),
  }), (text) => {
    const { markup: escaped } = markup`${text}`;
    expect(escaped).not.toMatch(/[<>"']/);
    expect(escaped.replace(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
  }));
});

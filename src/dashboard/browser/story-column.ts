import { button, element, fill, nameElement } from '../../web/element.ts';
import { clockText, dayText } from '../../web/time-text.ts';
import type { PageSwap, Story, StoryPage } from '../page-state.ts';
import type { Actions } from './actions.ts';
import { daemonNow } from './live-times.ts';
import type { PageApi } from './page-api.ts';
import { preferences } from './preferences.ts';
import { factList, messageOf, openSheet } from './sheet.ts';
import { openSwap, swapProgress } from './swap-details.ts';

/** What happened, the newest first. */
interface StoryColumn {
  readonly element: HTMLElement;
  add(story: Story): void;
  /** Draws all entries again, for instance in another zone. */
  redraw(): void;
  /** The swaps among the stories, the newest first. */
  readonly swaps: () => readonly PageSwap[];
}

const MOST_SHOWN = 120;

/** Returns the column of stories. The same id again changes its entry: a swap stays one entry until it has landed. */
export function createStoryColumn(api: PageApi, actions: Actions): StoryColumn {
  const entries = new Map<string, { story: Story; readonly item: HTMLElement }>();
  const list = element('ol', { class: 'stories', tabindex: 0, role: 'list', 'aria-label': 'What happened' });
  const none = element('p', { class: 'soft nothing' }, 'Nothing has happened yet. The first decisions come with the '
    + 'first prices.');
  const older = button('Show older', () => { void readOlder(); }, { class: 'button quiet' });
  older.hidden = true;

  const draw = (entry: { readonly story: Story; readonly item: HTMLElement }): void => {
    const { story, item } = entry;
    const { at, sentence, level, kind, swap, repeats, strategy } = story;
    const hadFocus = item.contains(document.activeElement);
    const open = element('button', { type: 'button', class: `story level-${level}` },
      element('span', { class: 'story-time number' }, whenText(at)),
      element('span', { 'class': `story-mark kind-${kind}`, 'aria-hidden': true }),
      element('span', { class: 'story-text' }, sentence,
        strategy !== null && !sentence.includes(strategy) && [' ', element('span', { class: 'soft' },
          nameElement(strategy))],
        repeats > 0 && element('span', { class: 'soft' }, ` · ${repeats + 1} times`),
        swap !== null && swapProgress(swap)));
    open.addEventListener('click', () => { openStory(entry.story); });
    fill(item, open);
    if (hadFocus) open.focus({ preventScroll: true });
  };
  const openStory = (story: Story): void => {
    const { swap } = story;
    if (swap !== null) {
      openSwap(swap, swap.needs_operator && api.session.role === 'operator'
        ? () => { actions.resolve(swap.intent_id, swap); } : undefined);
      return;
    }
    openSheet('What happened', element('p', {}, story.sentence), factList([
      ['When', `${dayText(story.at, preferences.zone, true)} ${clockText(story.at, preferences.zone)}`],
      ['Kind', story.kind], ['Strategy', story.strategy === null ? 'all' : nameElement(story.strategy)],
      ['How often', story.repeats + 1],
    ]));
  };
  const add = (story: Story): void => {
    const before = entries.get(story.id);
    if (before !== undefined) {
      before.story = story;
      draw(before);
      return;
    }
    const entry = { story, item: element('li') };
    entries.set(story.id, entry);
    draw(entry);
    const next = [...list.children].find((each) => Number(each.getAttribute('data-at')) <= story.at);
    entry.item.setAttribute('data-at', String(story.at));
    list.insertBefore(entry.item, next ?? null);
    none.hidden = true;
    older.hidden = false;
    for (const [id, { item }] of entries) {
      if (list.childElementCount <= MOST_SHOWN || item !== list.lastElementChild) continue;
      item.remove();
      entries.delete(id);
    }
  };
  const readOlder = async (): Promise<void> => {
    const last = [...entries.values()].toSorted((a, b) => a.story.at - b.story.at)[0];
    older.disabled = true;
    try {
      const query = new URLSearchParams({ limit: '60', ...last === undefined ? {} : { before: last.story.id } });
      const { stories, has_more: hasMore } = await api.get(`/api/story?${query.toString()}`) as StoryPage;
      openSheet('What happened before', stories.length === 0 ? element('p', {}, 'There is nothing older.')
        : element('ol', { class: 'stories' }, stories.map((story) => element('li', { class: 'story-line' },
          element('span', { class: 'story-time number' }, whenText(story.at)), ' ', story.sentence))),
      hasMore && element('p', { class: 'soft' }, 'The log and the journal hold what is older still.'));
    } catch (error) {
      openSheet('What happened before', element('p', { class: 'fault' }, messageOf(error)));
    } finally {
      older.disabled = false;
    }
  };
  return {
    element: element('section', { 'class': 'panel story-column', 'aria-labelledby': 'story-title' },
      element('div', { class: 'story-place' },
        element('h2', { id: 'story-title' }, 'What happened'), none, list, older)),
    add,
    redraw: () => { for (const entry of entries.values()) draw(entry); },
    swaps: () => [...entries.values()].map(({ story }) => story).toSorted((a, b) => b.at - a.at)
      .flatMap(({ swap }) => swap ?? []),
  };
}

/** Returns the time of day, and the day where it is another. */
function whenText(at: number): string {
  const { zone } = preferences;
  const day = dayText(at, zone);
  return day === dayText(daemonNow(), zone) ? clockText(at, zone, false) : day;
}

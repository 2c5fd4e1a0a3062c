import { writeFileSync } from 'node:fs';
import { COOKBOOK, cookbookPage, cookbookRecipes } from './page.ts';

// Writes the page that cookbook-page.test.ts holds against the recipes.

writeFileSync(COOKBOOK, cookbookPage(cookbookRecipes()));

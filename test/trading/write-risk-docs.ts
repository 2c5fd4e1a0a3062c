import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { riskPage } from './risk-page.ts';

// Writes the page that risk-page.test.ts holds against the tables.
writeFileSync(fileURLToPath(new URL('../../docs/risk.md', import.meta.url)), riskPage());

/** A market of the embedded chain: what the pools of one label have in common. */
export interface GenesisMarket {
  readonly label: string;
  /** The programs that go by the label: several for a market that was written anew. */
  readonly programIds: readonly string[];
  /** Whether it can be asked for an exact output. */
  readonly exactOut: boolean;
  /** Whether its swaps may stand in a bundle of transactions. */
  readonly bundles: boolean;
  /** Whether intermediate tokens may pass through accounts that all users share. */
  readonly sharedAccounts: boolean;
  /** The one router that may trade there; everybody where there is none. */
  readonly reservedFor?: 'routerA';
}

/** The markets of the embedded chain, by the labels of its pools. */
export const GENESIS_MARKETS: readonly GenesisMarket[] = [
  {
    label: 'Tidepool', programIds: ['Tidepoo1Program1111111111111111111111111111'], exactOut: true, bundles: true,
    sharedAccounts: true,
  },
  {
    label: 'Lagoon',
    programIds: ['LagoonProgram111111111111111111111111111111', 'LagoonProgramV21111111111111111111111111111'],
    exactOut: true, bundles: true, sharedAccounts: true,
  },
  {
    label: 'Estuary', programIds: ['EstuaryProgram11111111111111111111111111111'], exactOut: false, bundles: false,
    sharedAccounts: false,
  },
  { label: 'Sound', programIds: [], exactOut: false, bundles: false, sharedAccounts: false, reservedFor: 'routerA' },
];

/*
 * The sandbox's swap program: constant-product pools with virtual reserves, 1 to 4 hops in one instruction, a minimum
 * on what the user receives, and an optional platform fee. README.md beside this file lists accounts and layouts.
 *
 * The same binary is also loaded as an aggregator: an instruction of the public route_v2 layout calls the swap program.
 *
 * Freestanding C for `clang -target bpf`; link.ts makes it loadable. What that target forbids shapes the code:
 * a stack frame has 512 bytes (so working memory is on the heap the runtime provides, zeroed for every call),
 * functions take at most five arguments, and there is no 128-bit multiplication or division.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define U64_MAX (~0ULL)
#define NO_UNROLL _Pragma("clang loop unroll(disable)")

/* ---- The runtime's interface ------------------------------------------------------------------------------------ */

typedef struct {
  const u8 *program_id;
  const void *accounts;
  u64 account_count;
  const u8 *data;
  u64 data_length;
} Instruction;

typedef struct {
  const u8 *key;
  u8 is_writable;
  u8 is_signer;
} AccountMeta;

typedef struct {
  const u8 *key;
  u64 *lamports;
  u64 data_length;
  u8 *data;
  const u8 *owner;
  u64 rent_epoch;
  u8 is_signer;
  u8 is_writable;
  u8 executable;
} AccountInfo;

typedef struct {
  const u8 *bytes;
  u64 length;
} Seed;

typedef struct {
  const Seed *seeds;
  u64 count;
} SignerSeeds;

extern u64 sol_invoke_signed_c(const Instruction *, const AccountInfo *, u64, const SignerSeeds *, u64);
extern void sol_set_return_data(const u8 *, u64);
extern void sol_log_(const char *, u64);
extern void sol_log_64_(u64, u64, u64, u64, u64);

#define LOG(text) sol_log_(text, sizeof(text) - 1)

/* ---- Errors, reported as Custom(code) --------------------------------------------------------------------------- */

enum {
  OK = 0,
  ERROR_ACCOUNTS_MALFORMED = 6000,
  ERROR_BELOW_MINIMUM = 6001, /* 0x1771 */
  ERROR_POOL_INVALID = 6002,
  ERROR_SIGNER_MISSING = 6003,
  ERROR_LIQUIDITY_INSUFFICIENT = 6004,
  ERROR_INSTRUCTION_MALFORMED = 6005,
  ERROR_MINT_MISMATCH = 6006,
  ERROR_VAULT_MISMATCH = 6007,
  ERROR_MINT_UNSUPPORTED = 6008,
  ERROR_TOKEN_PROGRAM_UNSUPPORTED = 6009,
};

/* ---- Accounts as the runtime serialises them -------------------------------------------------------------------- */

/* u8 duplicate-of, u8 signer, u8 writable, u8 executable, u32 padding, key, owner, u64 lamports, u64 length, data. */
typedef struct {
  u8 duplicate_of;
  u8 is_signer;
  u8 is_writable;
  u8 executable;
  u8 padding[4];
  u8 key[32];
  u8 owner[32];
  u64 lamports;
  u64 data_length;
  u8 data[];
} Account;

#define NOT_DUPLICATE 0xff
#define MAX_DATA_GROWTH 10240
#define RENT_EPOCH_BYTES 8

/* ---- This program's own layouts --------------------------------------------------------------------------------- */

#define MAX_HOPS 4
#define BPS 10000

#define FIXED_ACCOUNTS 4
#define ACCOUNTS_PER_MINT 2
#define ACCOUNTS_PER_HOP 3
#define SWAP_ACCOUNTS(hops) (FIXED_ACCOUNTS + ACCOUNTS_PER_MINT * ((hops) + 1) + ACCOUNTS_PER_HOP * (hops))

/* A route names 11 accounts (the last is the swap program), the receiver of a fee if any, the pools with their vaults,
 * and the mints between two pools. */
#define ROUTE_FIXED_ACCOUNTS 11
#define ROUTE_ACCOUNTS(hops) (ROUTE_FIXED_ACCOUNTS + ACCOUNTS_PER_HOP * (hops) + ACCOUNTS_PER_MINT * ((hops) - 1))
#define MAX_ACCOUNTS (ROUTE_ACCOUNTS(MAX_HOPS) + 1)

#define TAG_SWAP 1

typedef struct {
  u8 tag;
  u8 hops;
  u16 platform_fee_bps;
  u32 reserved; /* zero */
  u64 amount_in;
  u64 minimum_out;
} SwapData;

/* The public layout; each step of the plan has ROUTE_STEP_BYTES. */
typedef struct __attribute__((packed)) {
  u64 discriminator;
  u64 amount_in;
  u64 quoted_out;
  u16 slippage_bps;
  u16 platform_fee_bps;
  u16 positive_slippage_bps; /* zero */
  u32 steps;
} RouteData;

#define ROUTE_STEP_BYTES 5
#define ROUTE_V2 0x14afc431ccfa64bbULL
/* The same instruction under an unpublished name. */
#define ROUTE_UNDOCUMENTED 0x0100657571617067ULL

#define POOL_MAGIC 0x314c4f4f50544e47ULL /* "GNTPOOL1" */

typedef struct {
  u64 magic;
  u16 fee_bps;
  u16 index;
  u8 bump;
  u8 holds_extensions; /* whether its mints may carry extensions */
  u8 reserved[2];
  u64 reserve_a;
  u64 reserve_b;
  u8 mint_a[32];
  u8 mint_b[32];
  u8 vault_a[32];
  u8 vault_b[32];
} Pool;

_Static_assert(sizeof(SwapData) == 24, "the instruction's data has 24 bytes");
_Static_assert(sizeof(RouteData) == 34, "a route's data has 34 bytes before its steps");
_Static_assert(sizeof(Pool) == 160, "a pool account has 160 bytes");

#define MINT_BYTES 82
#define MINT_DECIMALS_OFFSET 44
#define TOKEN_AMOUNT_OFFSET 64
/* Where a Token-2022 account with extensions says what it is. */
#define ACCOUNT_TYPE_OFFSET 165
#define ACCOUNT_TYPE_MINT 1
#define TOKEN_TRANSFER_CHECKED 12
#define TRANSFER_CHECKED_BYTES 10

static const u8 TOKEN_PROGRAM[32] = {
  0x06, 0xdd, 0xf6, 0xe1, 0xd7, 0x65, 0xa1, 0x93, 0xd9, 0xcb, 0xe1, 0x46, 0xce, 0xeb, 0x79, 0xac,
  0x1c, 0xb4, 0x85, 0xed, 0x5f, 0x5b, 0x37, 0x91, 0x3a, 0x8c, 0xf5, 0x85, 0x7e, 0xff, 0x00, 0xa9,
};
static const u8 TOKEN_2022_PROGRAM[32] = {
  0x06, 0xdd, 0xf6, 0xe1, 0xee, 0x75, 0x8f, 0xde, 0x18, 0x42, 0x5d, 0xbc, 0xe4, 0x6c, 0xcd, 0xda,
  0xb6, 0x1a, 0xfc, 0x4d, 0x83, 0xb9, 0x0d, 0x27, 0xfe, 0xbd, 0xf9, 0x28, 0xd8, 0xa1, 0x8b, 0xfc,
};

/* ---- Working memory --------------------------------------------------------------------------------------------- */

typedef struct {
  Account *mint;
  Account *token_program;
} Token;

typedef struct {
  Account *account;
  Account *vault_in;
  Account *vault_out;
  Pool *state;
} Hop;

typedef struct {
  Account *source;
  Account *destination;
  Account *authority;
  const Token *token;
  const Pool *signer_pool; /* the pool that signs as authority, or 0 when the user does */
} Transfer;

typedef struct {
  u64 account_count;
  Account *accounts[MAX_ACCOUNTS];
  const SwapData *input; /* 0 for a route */
  const RouteData *route; /* 0 for a swap */
  u64 data_length;
  const u8 *program_id;
  Account *user;
  Account *user_source;
  Account *user_destination;
  Account *fee_destination;
  Token tokens[MAX_HOPS + 1];
  Hop hops[MAX_HOPS];
  Transfer transfer;
  u64 arrived; /* by the last transfer */
  AccountInfo infos[SWAP_ACCOUNTS(MAX_HOPS)];
  AccountMeta metas[SWAP_ACCOUNTS(MAX_HOPS)];
  u64 named; /* infos and metas of a route's call that are filled */
  SwapData call;
  Instruction instruction;
  Seed seeds[5];
  SignerSeeds signer;
  u8 transfer_data[16];
  u64 result;
} Memory;

#define M ((Memory *)0x300000000ULL)

static const char POOL_SEED[4] = { 'p', 'o', 'o', 'l' };

/* ---- Arithmetic ------------------------------------------------------------------------------------------------- */

/* floor(a * b / divisor) through a 128-bit product; U64_MAX where that does not fit into 64 bits or divides by zero. */
static __attribute__((noinline)) u64 multiply_divide(u64 a, u64 b, u64 divisor) {
  u64 a_low = a & 0xffffffff, a_high = a >> 32;
  u64 b_low = b & 0xffffffff, b_high = b >> 32;
  u64 low_low = a_low * b_low, low_high = a_low * b_high;
  u64 high_low = a_high * b_low, high_high = a_high * b_high;
  u64 middle = (low_low >> 32) + (low_high & 0xffffffff) + (high_low & 0xffffffff);
  u64 low = (low_low & 0xffffffff) | (middle << 32);
  u64 high = high_high + (low_high >> 32) + (high_low >> 32) + (middle >> 32);

  if (divisor <= high) return U64_MAX;
  if (high == 0) return low / divisor;

  /* Long division bit by bit: `high` is the running remainder, the quotient grows in `low`. */
  NO_UNROLL
  for (int bit = 0; bit < 64; bit++) {
    u64 carry = high >> 63;
    high = (high << 1) | (low >> 63);
    low <<= 1;
    if (carry || high >= divisor) {
      high -= divisor;
      low |= 1;
    }
  }
  return low;
}

/* What a pool pays for amount_in; 0 where it cannot fill. The twin of quoteHop in chain/swap-math.ts, to the unit. */
static u64 quote_hop(u64 reserve_in, u64 reserve_out, u64 fee_bps, u64 amount_in) {
  if (reserve_in == 0 || reserve_out == 0 || amount_in == 0) return 0;
  if (reserve_in + amount_in < amount_in) return 0;
  u64 net = multiply_divide(amount_in, BPS - fee_bps, BPS);
  return multiply_divide(reserve_out, net, reserve_in + net);
}

/* ---- Small tools ------------------------------------------------------------------------------------------------ */

static int same_key(const u8 *a, const u8 *b) {
  const u64 *left = (const u64 *)a, *right = (const u64 *)b;
  return left[0] == right[0] && left[1] == right[1] && left[2] == right[2] && left[3] == right[3];
}

static void describe(int slot, Account *account) {
  AccountInfo *info = &M->infos[slot];
  info->key = account->key;
  info->lamports = &account->lamports;
  info->data_length = account->data_length;
  info->data = account->data;
  info->owner = account->owner;
  info->rent_epoch = U64_MAX;
  info->is_signer = account->is_signer;
  info->is_writable = account->is_writable;
  info->executable = account->executable;
}

static void grant(int slot, const u8 *key, u8 is_writable, u8 is_signer) {
  M->metas[slot].key = key;
  M->metas[slot].is_writable = is_writable;
  M->metas[slot].is_signer = is_signer;
}

static void seed(int slot, const void *bytes, u64 length) {
  M->seeds[slot].bytes = (const u8 *)bytes;
  M->seeds[slot].length = length;
}

static u64 token_amount(const Account *account) {
  return *(const u64 *)(account->data + TOKEN_AMOUNT_OFFSET);
}

/* TransferChecked of M->transfer; the token program verifies owner, mint, decimals and balance. A mint may withhold
 * part of the amount: M->arrived is what the destination has more. */
static __attribute__((noinline)) u64 transfer(u64 amount) {
  const Transfer *move = &M->transfer;
  Account *mint = move->token->mint;
  u64 held = token_amount(move->destination);
  describe(0, move->source);
  describe(1, mint);
  describe(2, move->destination);
  describe(3, move->authority);
  grant(0, move->source->key, 1, 0);
  grant(1, mint->key, 0, 0);
  grant(2, move->destination->key, 1, 0);
  grant(3, move->authority->key, 0, 1);

  M->transfer_data[0] = TOKEN_TRANSFER_CHECKED;
  NO_UNROLL
  for (int i = 0; i < 8; i++) M->transfer_data[1 + i] = (u8)(amount >> (8 * i));
  M->transfer_data[9] = mint->data[MINT_DECIMALS_OFFSET];

  M->instruction.program_id = move->token->token_program->key;
  M->instruction.accounts = M->metas;
  M->instruction.account_count = 4;
  M->instruction.data = M->transfer_data;
  M->instruction.data_length = TRANSFER_CHECKED_BYTES;

  const Pool *pool = move->signer_pool;
  if (pool) {
    seed(0, POOL_SEED, sizeof(POOL_SEED));
    seed(1, pool->mint_a, 32);
    seed(2, pool->mint_b, 32);
    seed(3, &pool->index, 2);
    seed(4, &pool->bump, 1);
    M->signer.seeds = M->seeds;
    M->signer.count = 5;
  }
  u64 error = sol_invoke_signed_c(&M->instruction, M->infos, 4, &M->signer, pool ? 1 : 0);
  M->arrived = move->source == move->destination ? amount : token_amount(move->destination) - held;
  return error;
}

/* ---- Reading and checking what came in -------------------------------------------------------------------------- */

/* Input: u64 count, accounts, u64 data length, data, program id. */
static __attribute__((noinline)) u64 read_input(u8 *input) {
  u64 count = *(u64 *)input;
  if (count < FIXED_ACCOUNTS || count > MAX_ACCOUNTS) return ERROR_ACCOUNTS_MALFORMED;
  M->account_count = count;
  u8 *at = input + 8;
  NO_UNROLL
  for (u64 i = 0; i < count; i++) {
    Account *account = (Account *)at;
    if (account->duplicate_of != NOT_DUPLICATE) {
      if (account->duplicate_of >= i) return ERROR_ACCOUNTS_MALFORMED;
      M->accounts[i] = M->accounts[account->duplicate_of];
      at += 8;
      continue;
    }
    M->accounts[i] = account;
    u64 data_end = sizeof(Account) + account->data_length + MAX_DATA_GROWTH;
    at += ((data_end + 7) & ~7ULL) + RENT_EPOCH_BYTES;
  }
  u64 data_length = *(u64 *)at;
  M->data_length = data_length;
  if (data_length == sizeof(SwapData)) M->input = (const SwapData *)(at + 8);
  else if (data_length > sizeof(RouteData)) M->route = (const RouteData *)(at + 8);
  else return ERROR_INSTRUCTION_MALFORMED;
  M->program_id = at + 8 + data_length;
  return OK;
}

static u64 check_instruction(void) {
  const SwapData *input = M->input;
  if (input->tag != TAG_SWAP || input->reserved != 0) return ERROR_INSTRUCTION_MALFORMED;
  if (input->hops < 1 || input->hops > MAX_HOPS) return ERROR_INSTRUCTION_MALFORMED;
  if (input->platform_fee_bps > BPS || input->amount_in == 0) return ERROR_INSTRUCTION_MALFORMED;
  return M->account_count == SWAP_ACCOUNTS(input->hops) ? OK : ERROR_ACCOUNTS_MALFORMED;
}

static u64 check_token(const Token *token) {
  const u8 *program = token->token_program->key;
  if (!same_key(program, TOKEN_PROGRAM) && !same_key(program, TOKEN_2022_PROGRAM)) return ERROR_TOKEN_PROGRAM_UNSUPPORTED;
  const Account *mint = token->mint;
  if (!same_key(mint->owner, program)) return ERROR_MINT_UNSUPPORTED;
  if (mint->data_length == MINT_BYTES) return OK;
  /* A longer mint carries extensions. One that needs further accounts makes the transfer fail. */
  int extended = mint->data_length > ACCOUNT_TYPE_OFFSET && mint->data[ACCOUNT_TYPE_OFFSET] == ACCOUNT_TYPE_MINT;
  return extended && same_key(program, TOKEN_2022_PROGRAM) ? OK : ERROR_MINT_UNSUPPORTED;
}

static u64 check_hop(Hop *hop, const Account *in, const Account *out) {
  const u8 *mint_in = in->key, *mint_out = out->key;
  Account *account = hop->account;
  if (!same_key(account->owner, M->program_id) || account->data_length != sizeof(Pool)) return ERROR_POOL_INVALID;
  Pool *pool = (Pool *)account->data;
  if (pool->magic != POOL_MAGIC || pool->fee_bps > BPS || !account->is_writable) return ERROR_POOL_INVALID;
  hop->state = pool;

  int forward = same_key(mint_in, pool->mint_a) && same_key(mint_out, pool->mint_b);
  int backward = same_key(mint_in, pool->mint_b) && same_key(mint_out, pool->mint_a);
  if (!forward && !backward) return ERROR_MINT_MISMATCH;
  const u8 *vault_in = forward ? pool->vault_a : pool->vault_b;
  const u8 *vault_out = forward ? pool->vault_b : pool->vault_a;
  if (!same_key(hop->vault_in->key, vault_in) || !same_key(hop->vault_out->key, vault_out)) return ERROR_VAULT_MISMATCH;
  int plain = in->data_length == MINT_BYTES && out->data_length == MINT_BYTES;
  return plain || pool->holds_extensions ? OK : ERROR_MINT_UNSUPPORTED;
}

static __attribute__((noinline)) u64 read_accounts(void) {
  Account **next = M->accounts;
  u64 hops = M->input->hops;
  M->user = *next++;
  M->user_source = *next++;
  M->user_destination = *next++;
  M->fee_destination = *next++;
  if (!M->user->is_signer) return ERROR_SIGNER_MISSING;

  NO_UNROLL
  for (u64 i = 0; i <= hops; i++) {
    M->tokens[i].mint = *next++;
    M->tokens[i].token_program = *next++;
    u64 error = check_token(&M->tokens[i]);
    if (error) return error;
  }
  NO_UNROLL
  for (u64 i = 0; i < hops; i++) {
    M->hops[i].account = *next++;
    M->hops[i].vault_in = *next++;
    M->hops[i].vault_out = *next++;
    u64 error = check_hop(&M->hops[i], M->tokens[i].mint, M->tokens[i + 1].mint);
    if (error) return error;
  }
  return OK;
}

/* ---- The swap --------------------------------------------------------------------------------------------------- */

/* Moves the reserves of one pool and returns what it pays, 0 where it cannot fill. */
static __attribute__((noinline)) u64 trade(Hop *hop, const u8 *mint_in, u64 amount_in) {
  Pool *pool = hop->state;
  int forward = same_key(mint_in, pool->mint_a);
  u64 *reserve_in = forward ? &pool->reserve_a : &pool->reserve_b;
  u64 *reserve_out = forward ? &pool->reserve_b : &pool->reserve_a;
  u64 out = quote_hop(*reserve_in, *reserve_out, pool->fee_bps, amount_in);
  if (out == 0) return 0;
  *reserve_in += amount_in;
  *reserve_out -= out;
  return out;
}

static u64 pay_from_pool(const Hop *hop, const Token *token, Account *destination, u64 amount) {
  M->transfer.source = hop->vault_out;
  M->transfer.destination = destination;
  M->transfer.authority = hop->account;
  M->transfer.token = token;
  M->transfer.signer_pool = hop->state;
  return transfer(amount);
}

static __attribute__((noinline)) u64 require_minimum(u64 received) {
  if (received >= M->input->minimum_out) return OK;
  LOG("swap: the user would receive less than the minimum");
  sol_log_64_(received, M->input->minimum_out, 0, 0, 0);
  return ERROR_BELOW_MINIMUM;
}

static __attribute__((noinline)) u64 swap(void) {
  u64 hops = M->input->hops;
  u64 amount = M->input->amount_in;

  M->transfer.source = M->user_source;
  M->transfer.destination = M->hops[0].vault_in;
  M->transfer.authority = M->user;
  M->transfer.token = &M->tokens[0];
  M->transfer.signer_pool = 0;
  u64 error = transfer(amount);
  if (error) return error;
  amount = M->arrived;

  /* Between hops the tokens go from vault to vault: no account of the user holds an intermediate token. */
  NO_UNROLL
  for (u64 i = 0; i < hops; i++) {
    amount = trade(&M->hops[i], M->tokens[i].mint->key, amount);
    if (amount == 0) {
      LOG("swap: a pool cannot fill this amount");
      return ERROR_LIQUIDITY_INSUFFICIENT;
    }
    if (i + 1 == hops) break;
    error = pay_from_pool(&M->hops[i], &M->tokens[i + 1], M->hops[i + 1].vault_in, amount);
    if (error) return error;
    amount = M->arrived;
  }

  u64 fee = multiply_divide(amount, M->input->platform_fee_bps, BPS);
  u64 received = amount - fee;
  error = require_minimum(received);
  if (error) return error;
  const Hop *last = &M->hops[hops - 1];
  const Token *token_out = &M->tokens[hops];
  if (fee > 0) {
    error = pay_from_pool(last, token_out, M->fee_destination, fee);
    if (error) return error;
  }
  error = pay_from_pool(last, token_out, M->user_destination, received);
  if (error) return error;
  /* The mint may have withheld part of it. */
  error = require_minimum(M->arrived);
  if (error) return error;

  M->result = M->arrived;
  sol_set_return_data((const u8 *)&M->result, sizeof(M->result));
  return OK;
}

/* ---- The aggregator --------------------------------------------------------------------------------------------- */

/* Names an account of the call to the swap program, with the rights that the route's caller gave. */
static void name(Account *account, u8 is_writable, u8 is_signer) {
  u64 slot = M->named++;
  describe((int)slot, account);
  grant((int)slot, account->key, is_writable, is_signer);
}

static void name_token(Account *mint, Account *token_program) {
  name(mint, 0, 0);
  name(token_program, 0, 0);
}

static u64 check_route(u64 hops, u64 fee_accounts) {
  const RouteData *route = M->route;
  if (route->discriminator != ROUTE_V2 && route->discriminator != ROUTE_UNDOCUMENTED) return ERROR_INSTRUCTION_MALFORMED;
  if (hops < 1 || hops > MAX_HOPS || M->data_length != sizeof(RouteData) + ROUTE_STEP_BYTES * hops)
    return ERROR_INSTRUCTION_MALFORMED;
  if (route->slippage_bps > BPS || route->positive_slippage_bps != 0) return ERROR_INSTRUCTION_MALFORMED;
  if (M->account_count != ROUTE_ACCOUNTS(hops) + fee_accounts) return ERROR_ACCOUNTS_MALFORMED;
  /* Loaded as the swap program itself it would call itself. */
  return same_key(M->accounts[10]->key, M->program_id) ? ERROR_INSTRUCTION_MALFORMED : OK;
}

/* The minimum is rounded up, for what slippage takes away is rounded down. */
static __attribute__((noinline)) u64 route(void) {
  const RouteData *route = M->route;
  Account **a = M->accounts;
  u64 hops = route->steps;
  u64 fee_accounts = route->platform_fee_bps > 0 ? 1 : 0;
  u64 error = check_route(hops, fee_accounts);
  if (error) return error;

  Account **pools = a + ROUTE_FIXED_ACCOUNTS + fee_accounts;
  Account **between = pools + ACCOUNTS_PER_HOP * hops;
  Account *other_destination = same_key(a[7]->key, M->program_id) ? a[2] : a[7];
  name(a[0], 0, 1);
  name(a[1], 1, 0);
  name(other_destination, 1, 0);
  if (fee_accounts) name(a[ROUTE_FIXED_ACCOUNTS], 1, 0);
  else name(a[10], 0, 0);
  name_token(a[3], a[5]);
  NO_UNROLL
  for (u64 i = 0; i + 1 < hops; i++) name_token(between[2 * i], between[2 * i + 1]);
  name_token(a[4], a[6]);
  NO_UNROLL
  for (u64 i = 0; i < ACCOUNTS_PER_HOP * hops; i++) name(pools[i], 1, 0);

  M->call.tag = TAG_SWAP;
  M->call.hops = (u8)hops;
  M->call.platform_fee_bps = route->platform_fee_bps;
  M->call.amount_in = route->amount_in;
  M->call.minimum_out = route->quoted_out - multiply_divide(route->quoted_out, route->slippage_bps, BPS);
  M->instruction.program_id = a[10]->key;
  M->instruction.accounts = M->metas;
  M->instruction.account_count = M->named;
  M->instruction.data = (const u8 *)&M->call;
  M->instruction.data_length = sizeof(SwapData);
  return sol_invoke_signed_c(&M->instruction, M->infos, M->named, &M->signer, 0);
}

u64 entrypoint(u8 *input) {
  u64 error = read_input(input);
  if (error) return error;
  if (M->route) return route();
  error = check_instruction();
  if (!error) error = read_accounts();
  if (!error) error = swap();
  return error;
}

-- A second factor beside the password: a time-based code (RFC 6238), passkeys, recovery codes.
-- When the customer of a session last proved one; null: not in this session.
alter table session add column proven_at timestamptz;

-- The secret is sealed. `last_step`: of the code that was used last; none counts twice.
create table totp (
  customer_id uuid primary key references customer (id) on delete cascade,
  secret bytea not null,
  confirmed_at timestamptz,
  last_step bigint not null default 0,
  created_at timestamptz not null
);

create table recovery_code (
  customer_id uuid not null references customer (id) on delete cascade,
  code_fingerprint bytea not null,
  primary key (customer_id, code_fingerprint)
);

create table passkey (
  id uuid primary key,
  customer_id uuid not null references customer (id) on delete cascade,
  credential_id text not null unique,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkey_customer on passkey (customer_id);

-- What waits for a second factor or for a passkey's signature. Only a hash of its name is kept.
create table auth_challenge (
  id_hash bytea primary key,
  purpose text not null check (purpose in ('sign_in', 'passkey', 'new_passkey')),
  customer_id uuid references customer (id) on delete cascade,
  webauthn text,
  remember boolean,
  tries integer not null default 0,
  expires_at timestamptz not null
);
create index auth_challenge_customer on auth_challenge (customer_id);
create index auth_challenge_expires on auth_challenge (expires_at);

-- Browsers that are not asked for the second factor.
create table trusted_device (
  id uuid primary key,
  customer_id uuid not null references customer (id) on delete cascade,
  token_hash bytea not null unique,
  ip text not null,
  user_agent text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index trusted_device_customer on trusted_device (customer_id);
create index trusted_device_expires on trusted_device (expires_at);

-- The link of a letter about a sign-in, by which its owner says that it was not them.
create table sign_in_denial (
  token_hash bytea primary key,
  customer_id uuid not null references customer (id) on delete cascade,
  signed_in_at timestamptz not null,
  expires_at timestamptz not null
);
create index sign_in_denial_expires on sign_in_denial (expires_at);

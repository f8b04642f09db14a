-- Whoever proves a phone number has it: only accounts that are proven hold an email or a phone alone.
alter table customer
  drop constraint customer_email_unique,
  drop constraint customer_phone_unique;
create unique index customer_email_unique on customer (email) where active;
create unique index customer_phone_unique on customer (phone) where active;
create index customer_email on customer (email);
create index customer_phone on customer (phone);

-- Two codes may be alive, so that a stranger's request does not end the owner's. Those of now end.
drop table one_time_code;
create table one_time_code (
  id uuid primary key,
  -- Null for an email that no account has: it is answered like one that an account has.
  customer_id uuid references customer (id) on delete cascade,
  -- The customer's id, or a hash of the unknown email.
  subject text not null,
  purpose text not null check (purpose in ('activate', 'recover', 'email', 'phone')),
  code_fingerprint bytea not null,
  -- The new address that the code will prove.
  target text,
  -- The network that asked for it, and whether the account knows that one.
  requester text not null,
  trusted boolean not null,
  tries int not null default 0,
  sent_at timestamptz not null,
  expires_at timestamptz not null
);
create index one_time_code_subject on one_time_code (subject, purpose);
create index one_time_code_customer on one_time_code (customer_id);
create index one_time_code_expires on one_time_code (expires_at);
-- Wrong answers, by the network that gave them.
create table code_failure (
  code_id uuid not null references one_time_code (id) on delete cascade,
  network text not null,
  tries int not null,
  primary key (code_id, network)
);

-- Failed sign-ins of an account, which bring growing delays. The key is a hash.
create table sign_in_failure (
  key bytea primary key,
  failures int not null,
  blocked_until timestamptz not null,
  expires_at timestamptz not null
);
create index sign_in_failure_expires on sign_in_failure (expires_at);

-- Networks and browsers that an account was signed in from; a browser by the hash of its cookie.
create table known_origin (
  customer_id uuid not null references customer (id) on delete cascade,
  origin text not null,
  seen_at timestamptz not null,
  primary key (customer_id, origin)
);
create index known_origin_seen on known_origin (seen_at);

-- One SMS a number and minute: when the last one was sent, or will be.
create table sms_slot (
  number text primary key,
  at timestamptz not null
);
create index sms_slot_at on sms_slot (at);
create table sms_day (
  day date primary key,
  sent int not null
);

-- A session ends at the latest 30 days after it began, and may be locked meanwhile.
alter table session
  add column ends_at timestamptz,
  add column locked_at timestamptz;
update session set ends_at = created_at + interval '30 days';
alter table session alter column ends_at set not null;

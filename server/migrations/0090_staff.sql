-- The operator's staff, what they do, and what waits for a second one (decisions 90 and 91).

-- Also an open invitation has its row in staff_invitation only: a member has accepted one.
create table staff (
  id uuid primary key,
  email text not null check (email = lower(email)),
  name text not null,
  role text not null check (role in ('owner', 'finance', 'operations', 'support', 'read_only')),
  password_hash text not null,
  -- Sealed. `totp_last_step`: of the code that was used last; none counts twice.
  totp_secret bytea not null,
  totp_last_step bigint not null,
  -- CIDR; empty: from anywhere.
  networks text[] not null default '{}',
  created_at timestamptz not null,
  disabled_at timestamptz
);

-- Who is disabled may be invited anew, such as with another app.
create unique index staff_email_key on staff (email) where disabled_at is null;

-- One that has ended stays for 90 days: it says where a member was signed in from.
create table staff_session (
  id uuid primary key,
  token_hash bytea not null unique,
  staff_id uuid not null references staff (id),
  ip text not null,
  network text not null,
  user_agent text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz
);
create index staff_session_of on staff_session (staff_id, created_at desc);
create index staff_session_expires on staff_session (expires_at);

-- Of one use. The member who accepts it gets its id.
create table staff_invitation (
  id uuid primary key,
  token_hash bytea not null unique,
  email text not null check (email = lower(email)),
  name text not null,
  role text not null check (role in ('owner', 'finance', 'operations', 'support', 'read_only')),
  networks text[] not null default '{}',
  -- Sealed; made when the invitation is first opened.
  totp_secret bytea,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);

-- The trail: each row's hash is made over the hash before it and the row itself.
create table operator_act (
  seq bigint primary key,
  at timestamptz not null,
  -- Null: a command of the shell.
  staff_id uuid references staff (id),
  actor text not null,
  approved_by_id uuid references staff (id),
  approved_by text,
  address text not null,
  act text not null,
  reason text,
  subject_kind text not null,
  subject_id text not null,
  customer_id uuid,
  input jsonb not null,
  before jsonb,
  after jsonb,
  key text unique,
  previous bytea not null,
  hash bytea not null
);
create index operator_act_of_customer on operator_act (customer_id, seq desc)
  where customer_id is not null;
-- What the newest act is, so that an end that was cut off is noticed.
create table operator_act_head (
  one boolean primary key default true check (one),
  seq bigint not null default 0,
  hash bytea not null default '\x'
);
insert into operator_act_head default values;

create function operator_act_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'OA001';
end $$;
create trigger operator_act_immutable before update or delete on operator_act
  for each row execute function operator_act_is_append_only();
create trigger operator_act_kept before truncate on operator_act
  for each statement execute function operator_act_is_append_only();

create table operator_proposal (
  id uuid primary key,
  act text not null,
  input jsonb not null,
  reason text,
  key text unique,
  -- Null: a command of the shell.
  staff_id uuid references staff (id),
  actor text not null,
  role text,
  customer_id uuid,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- How it ended: the act that it became, or that it was rejected.
  act_seq bigint references operator_act (seq),
  rejected_at timestamptz,
  rejected_by text
);
create index operator_proposal_open on operator_proposal (created_at)
  where act_seq is null and rejected_at is null;

create table customer_note (
  id uuid primary key,
  customer_id uuid not null references customer (id) on delete cascade,
  at timestamptz not null,
  actor text not null,
  text text not null
);
create index customer_note_of on customer_note (customer_id, at desc);
create table customer_label (
  customer_id uuid not null references customer (id) on delete cascade,
  label text not null,
  primary key (customer_id, label)
);

-- A blocked customer cannot sign in.
alter table customer add column blocked_at timestamptz;

-- What a customer is found by: the words of the name without accents, the e-mail address, its
-- domain, and the phone number, each by its beginning.
create function customer_search_terms(p_name text, p_email text, p_phone text)
returns tsvector language sql immutable parallel safe as $$
  select array_to_tsvector(array_remove(
    regexp_split_to_array(
      translate(lower(regexp_replace(normalize(p_name, nfd), '[\u0300-\u036f]', '', 'g')),
        'đ', 'd'),
      '[\s,.''’-]+') || p_email || split_part(p_email, '@', 2) || p_phone,
    ''))
$$;

-- People who work in a customer's account (decision 107).
create table team_member (
  id uuid primary key,
  owner_id uuid not null references customer (id) on delete cascade,
  person_id uuid not null references customer (id) on delete cascade,
  role text not null check (role in ('owner', 'billing', 'technical', 'read_only')),
  -- Null: all of the account's; empty: none.
  servers uuid[],
  domains uuid[],
  joined_at timestamptz not null,
  last_used_at timestamptz,
  unique (owner_id, person_id),
  check (owner_id <> person_id)
);
create index team_member_person on team_member (person_id);

create table team_invitation (
  id uuid primary key,
  owner_id uuid not null references customer (id) on delete cascade,
  email text not null,
  role text not null check (role in ('owner', 'billing', 'technical', 'read_only')),
  servers uuid[],
  domains uuid[],
  token_hash bytea not null unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  unique (owner_id, email)
);
create index team_invitation_expires on team_invitation (expires_at);

-- What members did in an account. The name is that of then: who was removed stays readable.
create table team_act (
  id bigint generated always as identity primary key,
  owner_id uuid not null references customer (id) on delete cascade,
  person_id uuid not null,
  person_name text not null,
  at timestamptz not null,
  -- Method and path of the contract.
  call text not null,
  subject_id uuid,
  ip text not null
);
create index team_act_of on team_act (owner_id, id desc);
create index team_act_at on team_act (at);

-- A member at work: it ends with the member's own session and with the membership.
create table acting_session (
  id uuid primary key,
  token_hash bytea not null unique,
  member_id uuid not null references team_member (id) on delete cascade,
  session_id uuid not null references session (id) on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index acting_session_member on acting_session (member_id);
create index acting_session_session on acting_session (session_id);
create index acting_session_expires on acting_session (expires_at);

-- What a customer chose; null: as the region has it, and the browser's own time zone.
alter table customer
  add column language text check (language in ('en', 'vi', 'aud')),
  add column time_zone text;

-- A session has a name that its customer may see, and says where it was opened.
alter table session
  add column id uuid not null default gen_random_uuid(),
  add column ip text,
  add column user_agent text,
  add constraint session_id_unique unique (id);

-- The new address waits beside the code that proves it.
alter table one_time_code
  add column target text,
  drop constraint one_time_code_purpose_check,
  add constraint one_time_code_purpose_check check (purpose in ('activate', 'recover', 'email', 'phone'));

create table sign_in (
  id bigint generated always as identity primary key,
  customer_id uuid not null references customer (id) on delete cascade,
  at timestamptz not null,
  ip text not null,
  user_agent text not null,
  outcome text not null check (outcome in ('succeeded', 'failed'))
);
create index sign_in_customer on sign_in (customer_id, id desc);
create index sign_in_at on sign_in (at);

-- Which sockets a session was let in with. Lost in a crash, it sends them to ask again.
create unlogged table channel_grant (
  session_id uuid not null references session (id) on delete cascade,
  socket_id text not null,
  primary key (session_id, socket_id)
);
create index channel_grant_socket on channel_grant (socket_id);

-- A ticket ends with its session. Those of now would live a minute longer.
delete from log_ticket;
alter table log_ticket add column session_id uuid not null references session (id) on delete cascade;

-- Tickets: what customers ask the operator's staff, and what they are answered (decision 112).
create table ticket (
  id uuid primary key,
  -- What people call it: #1001.
  number bigint generated always as identity (start with 1001) unique,
  -- Null: a letter that no customer's account was proven for.
  customer_id uuid references customer (id) on delete cascade,
  -- Who wrote, where it is nobody's yet; also who wrote first, once it is somebody's.
  sender_email text,
  sender_name text,
  subject text not null,
  -- open: the staff is to act; answered: the customer is.
  state text not null check (state in ('open', 'answered', 'closed')),
  -- 0 low, 1 normal, 2 high, 3 urgent.
  priority smallint not null default 1 check (priority between 0 and 3),
  assignee_id uuid references staff (id),
  labels text[] not null default '{}',
  object_kind text check (object_kind in ('server', 'domain', 'invoice', 'payment')),
  object_id text,
  object_name text,
  opened_at timestamptz not null,
  -- Since when it is the turn of whoever is to act.
  waiting_since timestamptz not null,
  closed_at timestamptz,
  merged_into uuid references ticket (id) on delete cascade,
  messages integer not null default 0,
  rating text check (rating in ('good', 'bad')),
  rated_at timestamptz,
  check ((object_kind is null) = (object_id is null)),
  check ((object_id is null) = (object_name is null)),
  check ((state = 'closed') = (closed_at is not null)),
  check (customer_id is not null or sender_email is not null)
);
create index ticket_of_customer on ticket (customer_id, number desc);
create index ticket_of_sender on ticket (sender_email, number desc) where customer_id is null;
create index ticket_queue on ticket (state, priority desc, waiting_since)
  where merged_into is null;
create index ticket_of_assignee on ticket (assignee_id, state) where assignee_id is not null;
create index ticket_merged on ticket (merged_into) where merged_into is not null;
create index ticket_closed on ticket (closed_at) where closed_at is not null;

create table ticket_message (
  id uuid primary key,
  seq bigint generated always as identity unique,
  ticket_id uuid not null references ticket (id) on delete cascade,
  at timestamptz not null,
  -- note: for the staff alone.
  kind text not null check (kind in ('customer', 'staff', 'note')),
  author text not null,
  staff_id uuid references staff (id),
  text text not null,
  by_mail boolean not null default false,
  -- False: a letter of which nothing proves who wrote it.
  proven boolean not null default true,
  -- SHA-256 of what makes a letter itself: it comes in once.
  letter bytea unique,
  -- Files of a letter that were too many or too large.
  left_out text[] not null default '{}'
);
create index ticket_message_of on ticket_message (ticket_id, seq);

create table ticket_file (
  id uuid primary key,
  seq bigint generated always as identity,
  -- Null: it was uploaded, and no message has it yet.
  message_id uuid references ticket_message (id) on delete cascade,
  -- Who uploaded it.
  customer_id uuid references customer (id) on delete cascade,
  staff_id uuid references staff (id),
  name text not null,
  bytes integer not null,
  -- Null: its time is over.
  content bytea,
  created_at timestamptz not null
);
alter table ticket_file alter column content set storage external;
create index ticket_file_of on ticket_file (message_id, seq);
create index ticket_file_unused on ticket_file (created_at) where message_id is null;

-- Answers that are ready to be chosen, in both languages.
create table canned_answer (
  id uuid primary key,
  name text not null unique,
  text_en text not null,
  text_vi text not null,
  changed_at timestamptz not null,
  changed_by text not null
);

-- Every event for a customer. The row is written with the business; `seq` is given by the relay in commit order, so a reader that remembers
-- the last seq it saw never skips one.
create table notification (
  id bigint generated always as identity primary key,
  seq bigint unique,
  customer_id uuid not null references customer (id) on delete cascade,
  event text not null,
  payload jsonb not null,
  created_at timestamptz not null,
  read_at timestamptz
);
create sequence notification_seq;
create index notification_unsent on notification (id) where seq is null;
create index notification_of_customer on notification (customer_id, seq desc);
create index notification_unread on notification (customer_id) where read_at is null;
